#include "data/reshape/window.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/batches/field_walk.hpp"
#include "data/batches/new_samples.hpp"
#include "data/reshape/groups.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/key_text.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view count_name = "count";

/// Which samples each window has.
class WindowPlan {
 public:
  WindowPlan(const Dataset::Windows& windows, Groups groups)
      : length_(windows.length), stride_(windows.stride), groups_(std::move(groups)) {
    std::vector<std::int64_t> counts;
    for (std::size_t group = 0; group < groups_.ends.size(); ++group)
      counts.push_back(static_cast<std::int64_t>(windows_in(groups_.ends[group] - begin_of(groups_.ends, group), windows)));
    ends_ = ends_of(counts);
  }

  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::uint64_t length() const { return length_; }
  const std::vector<std::uint64_t>& ends() const { return ends_; }

  /// The samples of a window; behind them none, if its group has no more.
  struct Part {
    std::uint64_t first = 0;  ///< among all samples in the order of their groups
    std::uint64_t count = 0;
  };
  Part operator[](std::uint64_t window) const {
    const auto group = part_at(ends_, window);
    const auto first = begin_of(groups_.ends, group) + (window - begin_of(ends_, group)) * stride_;
    return {first, std::min(length_, groups_.ends[group] - first)};
  }
  /// The sample at a place of that order.
  std::uint64_t sample(std::uint64_t place) const { return groups_.order.empty() ? place : groups_.order[place]; }

 private:
  /// Without padding whole ones only; with it as many as it takes to have each sample in one.
  static std::uint64_t windows_in(std::uint64_t samples, const Dataset::Windows& windows) {
    if (samples == 0) return 0;
    if (samples < windows.length) return windows.pad ? 1 : 0;
    const auto more = samples - windows.length, whole = 1 + more / windows.stride;
    const bool has_rest = more % windows.stride != 0 && whole * windows.stride < samples;
    return whole + (windows.pad && has_rest ? 1 : 0);
  }

  std::uint64_t length_, stride_;
  Groups groups_;
  std::vector<std::uint64_t> ends_;  ///< windows in all up to the end of each group
};

class WindowedSource final : public Source {
 public:
  /// `group`: the number of the field that all samples of a window have in common, or that of no field.
  WindowedSource(std::shared_ptr<const Source> source, std::vector<Dataset::Field> fields, std::size_t group,
                 WindowPlan plan)
      : source_(std::move(source)), fields_(std::move(fields)), group_(group), plan_(std::move(plan)) {}
  std::uint64_t size() const override { return plan_.size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<Column*> whole, of_group;
    for (auto& column : columns) {
      if (column.field == source_->fields().size())
        count(samples, column);
      else
        (column.field == group_ ? of_group : whole).push_back(&column);
    }
    read_rows(samples, of_group, 1);
    read_rows(samples, whole, plan_.length());
    for (auto* column : whole) clear_padding(samples, *column);
  }

 private:
  /// The first `count` samples of each window, the last one that there is again if there are no more.
  void read_rows(std::span<const std::uint64_t> samples, const std::vector<Column*>& columns, std::uint64_t count) const {
    if (columns.empty()) return;
    std::vector<std::uint64_t> rows;
    rows.reserve(samples.size() * count);
    for (const auto sample : samples) {
      const auto part = plan_[sample];
      for (std::uint64_t i = 0; i < count; ++i) rows.push_back(plan_.sample(part.first + std::min(i, part.count - 1)));
    }
    std::vector<Column> read;
    for (auto* column : columns) read.push_back(std::move(*column));
    source_->read(rows, read);
    for (std::size_t i = 0; i < columns.size(); ++i) *columns[i] = std::move(read[i]);
  }

  void clear_padding(std::span<const std::uint64_t> samples, Column& column) const {
    const auto bytes = sample_bytes(source_->fields()[column.field]), all = bytes * plan_.length();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto there = plan_[samples[i]].count * bytes;
      std::fill_n(column.values.begin() + static_cast<std::ptrdiff_t>(i * all + there), all - there, std::byte{});
    }
  }

  void count(std::span<const std::uint64_t> samples, Column& column) const {
    column.values.resize(samples.size() * sizeof(std::int32_t));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto there = static_cast<std::int32_t>(plan_[samples[i]].count);
      std::memcpy(column.values.data() + i * sizeof there, &there, sizeof there);
    }
  }

  std::shared_ptr<const Source> source_;
  std::vector<Dataset::Field> fields_;
  std::size_t group_;
  WindowPlan plan_;
};

std::string words_of(const Dataset::Windows& windows) {
  return fmt::format("windows of {}, {} further each{}{}", windows.length, windows.stride,
                     windows.within.empty() ? "" : fmt::format(", within '{}'", windows.within),
                     windows.pad ? ", filled up" : "");
}

}  // namespace

std::vector<Dataset::Field> windowed_fields(const std::vector<Dataset::Field>& before, const Dataset::Windows& windows) {
  constexpr std::uint64_t most = 1U << 31;
  if (windows.length == 0 || windows.length >= most || windows.stride == 0)
    throw UsageError("a window has one sample or more (below 2147483648), and the next one begins one or more further");
  const auto group = windows.within.empty() ? before.size() : find_field(before, windows.within);
  if (group < before.size()) require_key(before[group], fmt::format("the field '{}' of the groups", windows.within));
  auto fields = before;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == group) continue;
    auto& field = fields[i];
    if (field.varies)
      throw UsageError(
          fmt::format("the field '{}' varies in length, so windows of it have no shape: leave it out (most "
                      "formats have a key for that: columns, fields)",
                      field.name));
    if (windows.pad && field.name == count_name)
      throw UsageError("windows that are filled up have a field 'count', and there is one already");
    field.sample_shape.insert(field.sample_shape.begin(), static_cast<std::int64_t>(windows.length));
  }
  if (windows.pad) fields.push_back({std::string(count_name), DType::i32, {}});
  return fields;
}

void window(DatasetImpl& dataset, const Dataset::Windows& windows) {
  require_not_walked(dataset, "window()");
  require_plain_order(dataset, "window()");
  require_not_drawn(dataset, "window()");
  const auto& before = dataset.source->fields();
  auto fields = windowed_fields(before, windows);
  const auto group = windows.within.empty() ? before.size() + 1 : find_field(before, windows.within);
  auto groups = windows.within.empty() ? Groups{{dataset.source->size()}, {}} : groups_of(dataset, group);
  const auto order = groups.order;
  WindowPlan plan(windows, std::move(groups));
  if (plan.size() == 0)
    throw UsageError(fmt::format("there are no {} neighbours{} among the {} samples, and shorter windows only with pad",
                                 windows.length, windows.within.empty() ? "" : fmt::format(" of one '{}'", windows.within),
                                 dataset.source->size()));
  std::uint64_t bytes = 0;
  for (const auto& field : fields) bytes += sample_bytes(field);
  require_memory(bytes, fmt::format("a window of {} samples", windows.length));
  note_samples(dataset, words_of(windows), order.empty() ? plan.ends() : order, plan.size());
  dataset.source = std::make_shared<WindowedSource>(dataset.source, std::move(fields), group, std::move(plan));
  follow_source(dataset);
}

}  // namespace trainrt::data
