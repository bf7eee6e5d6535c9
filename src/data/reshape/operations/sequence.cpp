#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/batches/field_scan.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view count_name = "count";

/// Samples that are grouped by their values of a field. The groups are in the order of their first samples.
struct Groups {
  std::vector<std::uint64_t> ends;  ///< for each group, the number of samples up to the end of the group
  /// Indices of the samples, group by group, in ascending order within a group. If this order is 0, 1, 2 and so on, the
  /// vector is empty.
  std::vector<std::uint64_t> order;
};

/// Returns, for each sample, the number of its group. Group 0 has the samples that are skipped because they cannot be read.
/// Each other group has the samples with the same value of the field `field`, an integer or a text. Collective over
/// plan.team.
std::vector<std::int64_t> group_numbers(const DatasetPlan& plan, std::size_t field) {
  const auto& key_field = plan.source->fields()[field];
  std::unordered_map<std::string, std::int64_t> own, all;  // group numbers by value: of this rank's samples, of all samples
  std::vector<std::string> own_keys;
  auto numbers = gather_from_scan(plan, field, "window", [&](const TensorView& values) {
    const auto [found, is_new] = own.try_emplace(key_of(values, key_field), std::ssize(own) + 1);
    if (is_new) own_keys.push_back(found->first);
    return found->second;
  });
  const auto keys = plan.team.gather([&] {
    std::string bytes;
    nlohmann::json::to_cbor(own_keys, bytes);
    return bytes;
  });
  for (int rank = 0; rank < std::ssize(keys); ++rank) {
    std::vector<std::int64_t> group_of_key{0};
    for (const auto& key : nlohmann::json::from_cbor(keys[static_cast<std::size_t>(rank)]))
      group_of_key.push_back(all.try_emplace(key.get<std::string>(), std::ssize(all) + 1).first->second);
    const auto [first, end] = plan.team.share_of(numbers.size(), rank);
    for (auto sample = first; sample < end; ++sample)
      numbers[sample] = group_of_key[static_cast<std::size_t>(numbers[sample])];
  }
  return numbers;
}

Groups groups_of(const DatasetPlan& plan, std::size_t field) {
  const auto numbers = group_numbers(plan, field);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::ranges::max(numbers)) + 1);
  for (const auto group : numbers) ++sizes[static_cast<std::size_t>(group)];
  Groups groups{ends_of(sizes), {}};
  if (std::ranges::is_sorted(numbers)) return groups;
  groups.order.resize(numbers.size());
  std::vector<std::uint64_t> next;
  for (std::size_t group = 0; group < sizes.size(); ++group) next.push_back(begin_of(groups.ends, group));
  for (std::uint64_t sample = 0; sample < numbers.size(); ++sample)
    groups.order[next[static_cast<std::size_t>(numbers[sample])]++] = sample;
  return groups;
}

/// Determines which samples belong to each window.
class WindowCuts {
 public:
  WindowCuts(const Dataset::Windows& windows, Groups groups)
      : length_(windows.length), stride_(windows.stride), groups_(std::move(groups)) {
    std::vector<std::int64_t> counts;
    for (std::size_t group = 0; group < groups_.ends.size(); ++group)
      counts.push_back(static_cast<std::int64_t>(windows_in(groups_.ends[group] - begin_of(groups_.ends, group), windows)));
    ends_ = ends_of(counts);
  }

  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::uint64_t length() const { return length_; }
  const std::vector<std::uint64_t>& ends() const { return ends_; }

  /// The samples of a window. The last window of a group may have fewer than length() samples.
  struct Part {
    std::uint64_t first = 0;  ///< position in the order of the groups
    std::uint64_t count = 0;
  };
  Part operator[](std::uint64_t window) const {
    const auto group = part_at(ends_, window);
    const auto first = begin_of(groups_.ends, group) + (window - begin_of(ends_, group)) * stride_;
    return {first, std::min(length_, groups_.ends[group] - first)};
  }
  /// Returns the sample at a position in the order of the groups.
  std::uint64_t sample(std::uint64_t at) const { return groups_.order.empty() ? at : groups_.order[at]; }

 private:
  /// Returns the number of windows in a group of `samples` samples. Without padding, only complete windows are made. With
  /// padding and stride <= length, the windows contain all samples.
  static std::uint64_t windows_in(std::uint64_t samples, const Dataset::Windows& windows) {
    if (samples == 0) return 0;
    if (samples < windows.length) return windows.pad ? 1 : 0;
    const auto more = samples - windows.length, whole = 1 + more / windows.stride;
    const bool has_rest = more % windows.stride != 0 && whole * windows.stride < samples;
    return whole + (windows.pad && has_rest ? 1 : 0);
  }

  std::uint64_t length_, stride_;
  Groups groups_;
  std::vector<std::uint64_t> ends_;  ///< for each group, the number of windows up to the end of the group
};

class WindowedSource final : public WrappedSource {
 public:
  /// `group` is the result of group_of(): the index of the field by which the samples are grouped, if there is one.
  WindowedSource(std::shared_ptr<const Source> source, Fields fields, std::size_t group, WindowCuts cuts)
      : WrappedSource(std::move(source)), fields_(std::move(fields)), group_(group), cuts_(std::move(cuts)) {}
  std::uint64_t size() const override { return cuts_.size(); }
  const Fields& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<Column*> whole, of_group;
    for (auto& column : columns) {
      if (column.field == source_->fields().size())
        count(samples, column);
      else
        (column.field == group_ ? of_group : whole).push_back(&column);
    }
    read_rows(samples, of_group, 1);
    read_rows(samples, whole, cuts_.length());
    for (auto* column : whole) clear_padding(samples, *column);
  }

 private:
  /// Reads the first `count` samples of each window. In a window with fewer samples, the last sample is repeated.
  void read_rows(std::span<const std::uint64_t> samples, const std::vector<Column*>& columns, std::uint64_t count) const {
    if (columns.empty()) return;
    std::vector<std::uint64_t> rows;
    rows.reserve(samples.size() * count);
    for (const auto sample : samples) {
      const auto part = cuts_[sample];
      for (std::uint64_t i = 0; i < count; ++i) rows.push_back(cuts_.sample(part.first + std::min(i, part.count - 1)));
    }
    std::vector<Column> read;
    for (auto* column : columns) read.push_back(std::move(*column));
    source_->read(rows, read);
    for (std::size_t i = 0; i < columns.size(); ++i) *columns[i] = std::move(read[i]);
  }

  void clear_padding(std::span<const std::uint64_t> samples, Column& column) const {
    const auto bytes = sample_bytes(source_->fields()[column.field]), all = bytes * cuts_.length();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto there = cuts_[samples[i]].count * bytes;
      std::fill_n(column.values.begin() + static_cast<std::ptrdiff_t>(i * all + there), all - there, std::byte{});
    }
  }

  void count(std::span<const std::uint64_t> samples, Column& column) const {
    column.values.resize(samples.size() * sizeof(std::int32_t));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto there = static_cast<std::int32_t>(cuts_[samples[i]].count);
      std::memcpy(column.values.data() + i * sizeof there, &there, sizeof there);
    }
  }

  Fields fields_;
  std::size_t group_;
  WindowCuts cuts_;
};

/// Describes the windows. The result is part of the step's identity in checkpoints, so it must not change.
std::string words_of(const Dataset::Windows& windows) {
  return fmt::format("windows of {}, {} further each{}{}", windows.length, windows.stride,
                     windows.within.empty() ? "" : fmt::format(", within '{}'", windows.within),
                     windows.pad ? ", filled up" : "");
}

/// Returns the index of the field by which the samples are grouped. If they are not grouped, returns an index that is
/// too large for any field.
std::size_t group_of(const Dataset::Windows& windows, const Fields& fields) {
  return windows.within.empty() ? fields.size() + 1 : find_field(fields, windows.within);
}

Fields fields_of(const Dataset::Windows& windows, const Fields& before) {
  constexpr std::uint64_t max_length = (1U << 31) - 1;
  if (windows.length == 0 || windows.length > max_length || windows.stride == 0)
    throw UsageError(
        fmt::format("windows of {} samples with stride {} are impossible; "
                    "the length must be 1 to {}, and the stride 1 or more",
                    windows.length, windows.stride, max_length));
  const auto group = group_of(windows, before);
  if (group < before.size()) require_key(before[group], fmt::format("the field '{}' of the groups", windows.within));
  auto fields = before;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == group) continue;
    auto& field = fields[i];
    if (field.varies)
      throw UsageError(
          fmt::format("the field '{}' varies in length, so no windows of this field can be made. "
                      "Leave the field out (most formats have a key for that: columns or fields)",
                      field.name));
    if (windows.pad && field.name == count_name)
      throw UsageError(
          "padded windows get a field 'count', but the dataset already has a field of this name; "
          "leave out that field, or remove 'pad'");
    field.sample_shape.insert(field.sample_shape.begin(), static_cast<std::int64_t>(windows.length));
  }
  if (windows.pad) fields.push_back({std::string(count_name), DType::i32, {}});
  return fields;
}

Step::Result apply(const Dataset::Windows& windows, const DatasetPlan& input) {
  const auto& before = input.source->fields();
  const auto samples = input.source->size();
  auto made = fields_of(windows, before);
  const auto group = group_of(windows, before);
  auto groups = windows.within.empty() ? Groups{{samples}, {}} : groups_of(input, group);
  const auto order = groups.order;
  WindowCuts cuts(windows, std::move(groups));
  if (cuts.size() == 0)
    throw UsageError(
        fmt::format("no window of {} consecutive samples{} exists in {} samples; add pad to make shorter windows as well",
                    windows.length, windows.within.empty() ? "" : fmt::format(" of one '{}'", windows.within), samples));
  std::uint64_t bytes = 0;
  for (const auto& field : made) bytes += sample_bytes(field);
  require_memory(bytes, fmt::format("a window of {} samples", windows.length));
  auto identity = identity_of_made(words_of(windows), cuts.size(), order.empty() ? cuts.ends() : order);
  return {std::make_shared<WindowedSource>(input.source, std::move(made), group, std::move(cuts)), std::move(identity)};
}

constexpr std::string_view sequence_form = "LENGTH [stride=N] [within=FIELD] [pad]";

Step make_sequence(const std::string& text) {
  KeyWords words(text, sequence_form);
  Dataset::Windows windows;
  windows.pad = words.has("pad");
  windows.within = words.value("within").value_or("");
  if (const auto stride = words.number("stride")) windows.stride = *stride < 1 ? 0 : static_cast<std::uint64_t>(*stride);
  windows.length = words.take_number(1);
  words.end();
  return window_step(windows);
}

}  // namespace

Step window_step(const Dataset::Windows& windows) {
  return {Effect::makes, [windows](const Fields& before) { return fields_of(windows, before); },
          [windows](const DatasetPlan& input) { return apply(windows, input); }};
}

namespace plugins {

extern const OperationKind sequence{
    .name = "sequence",
    .help =
        "makes each sample from a window of LENGTH consecutive samples; each field gets a first axis of that length. "
        "stride: a window begins N samples (default 1) after the previous window. "
        "within: all samples of a window have the same value in FIELD. "
        "pad: incomplete windows are filled with zeros, and the field 'count' has the number of real samples; "
        "otherwise incomplete windows are left out",
    .form = sequence_form,
    .make = make_sequence,
    .order = 1};

}  // namespace plugins

}  // namespace trainrt::data
