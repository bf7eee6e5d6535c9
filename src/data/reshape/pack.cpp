#include "data/reshape/pack.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_walk.hpp"
#include "data/batches/new_samples.hpp"
#include "data/source/recent_samples.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// Samples of one length out of a field whose values stand one behind the other.
class PackedSource final : public Source {
 public:
  PackedSource(const std::shared_ptr<const Source>& source, std::size_t field, Dataset::Field made,
               std::vector<std::byte> separator, std::vector<std::uint64_t> ends)
      : documents_(source, field),
        separator_(std::move(separator)),
        length_(static_cast<std::uint64_t>(made.sample_shape[0])),
        fields_{std::move(made)},
        ends_(std::move(ends)) {}
  std::uint64_t size() const override { return ends_.back() / length_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      column.values.clear();
      column.values.reserve(samples.size() * sample_bytes(fields_[0]));
      for (const auto sample : samples) append(sample, column.values);
    }
  }

 private:
  /// One sample: pieces of the documents that it touches.
  void append(std::uint64_t sample, std::vector<std::byte>& into) const {
    const auto first = sample * length_, end = first + length_;
    const auto from = part_at(ends_, first), to = part_at(ends_, end - 1) + 1;
    std::vector<std::uint64_t> numbers;  // without those that have nothing here: on_error = skip may have left them out
    for (auto number = from; number < to; ++number)
      if (begin_of(ends_, number) < ends_[number]) numbers.push_back(number);
    const auto documents = documents_.read(numbers);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto begin = begin_of(ends_, numbers[i]);
      append_part(*documents[i], numbers[i], std::max(first, begin) - begin, std::min(end, ends_[numbers[i]]) - begin,
                  into);
    }
  }

  /// The values from `first` to `end` of a document and its separator.
  void append_part(const std::vector<std::byte>& document, std::size_t number, std::uint64_t first, std::uint64_t end,
                   std::vector<std::byte>& into) const {
    const auto bytes = size_of(fields_[0].dtype);
    if (document.size() + separator_.size() != (ends_[number] - begin_of(ends_, number)) * bytes)
      throw Error(
          fmt::format("pack: sample {} of the source has another number of values in '{}' than when it was looked "
                      "at first",
                      number, fields_[0].name));
    const auto from = std::min<std::size_t>(first * bytes, document.size()),
               to = std::min<std::size_t>(end * bytes, document.size());
    into.insert(into.end(), document.begin() + static_cast<std::ptrdiff_t>(from),
                document.begin() + static_cast<std::ptrdiff_t>(to));
    if (end * bytes > document.size()) into.insert(into.end(), separator_.begin(), separator_.end());
  }

  RecentSamples documents_;
  std::vector<std::byte> separator_;
  std::uint64_t length_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;
};

/// A whole number as a value of that type.
std::vector<std::byte> value_of(std::int64_t number, DType dtype) {
  std::vector<std::byte> bytes(size_of(dtype));
  const auto put = [&](auto value) {
    if (static_cast<std::int64_t>(value) != number)
      throw UsageError(fmt::format("{} cannot hold the separator {}", name_of(dtype), number));
    std::memcpy(bytes.data(), &value, sizeof value);
  };
  switch (dtype) {
    case DType::i64:
      put(number);
      break;
    case DType::i32:
      put(static_cast<std::int32_t>(number));
      break;
    case DType::u8:
      put(static_cast<std::uint8_t>(number));
      break;
    default:
      throw UsageError(
          fmt::format("a separator goes between whole numbers (u8, i32, i64), and the field holds {}", name_of(dtype)));
  }
  return bytes;
}

}  // namespace

Dataset::Field packed_field(const Dataset::Field& before, std::uint64_t length, std::optional<std::int64_t> separator) {
  if (!before.varies)
    throw UsageError(fmt::format(
        "pack() puts values of varying number behind each other, and the samples of '{}' all have the same", before.name));
  if (length == 0) throw UsageError("pack() to samples without a value");
  if (separator) value_of(*separator, before.dtype);
  return {before.name, before.dtype, {static_cast<std::int64_t>(length)}};
}

void pack(DatasetImpl& dataset, std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator) {
  require_not_walked(dataset, "pack()");
  require_plain_order(dataset, "pack()");
  require_not_drawn(dataset, "pack()");
  const auto at = find_field(dataset.source->fields(), field);
  auto made = packed_field(dataset.source->fields()[at], length, separator);
  auto between = separator ? value_of(*separator, made.dtype) : std::vector<std::byte>();
  const std::int64_t more = separator ? 1 : 0;
  auto ends = ends_of(seen_together(dataset, at, "pack", [&](const TensorView& values) { return values.shape[0] + more; }));
  if (ends.back() < length)
    throw UsageError(fmt::format("no sample of {} values can be packed: there are {} in all", length, ends.back()));
  const auto what =
      fmt::format("'{}' packed by {}{}", field, length, separator ? fmt::format(" with separator {}", *separator) : "");
  note_samples(dataset, what, ends, ends.back() / length);
  dataset.source = std::make_shared<PackedSource>(dataset.source, at, std::move(made), std::move(between), std::move(ends));
  follow_source(dataset);
}

}  // namespace trainrt::data
