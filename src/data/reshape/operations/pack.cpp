#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_scan.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/recent_samples.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// A source with samples of equal length, which are cut from the concatenated values (documents) of a field.
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
  const Fields& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      column.values.clear();
      column.values.reserve(samples.size() * sample_bytes(fields_[0]));
      for (const auto sample : samples) append(sample, column.values);
    }
  }

 private:
  /// Appends the values of one new sample to `into`. The sample contains values of one or more documents, which are samples
  /// of the source.
  void append(std::uint64_t sample, std::vector<std::byte>& into) const {
    const auto first = sample * length_, end = first + length_;
    const auto from = part_at(ends_, first), to = part_at(ends_, end - 1) + 1;
    std::vector<std::uint64_t>
        numbers;  // indices of the documents with values; documents that on_error = skip removed have no values
    for (auto number = from; number < to; ++number)
      if (begin_of(ends_, number) < ends_[number]) numbers.push_back(number);
    const auto documents = documents_.read(numbers);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto begin = begin_of(ends_, numbers[i]);
      append_part(*documents[i], numbers[i], std::max(first, begin) - begin, std::min(end, ends_[numbers[i]]) - begin,
                  into);
    }
  }

  /// Appends the values from `first` to `end` (exclusive) of a document to `into`. The separator counts as the last value
  /// of the document.
  void append_part(const std::vector<std::byte>& document, std::size_t number, std::uint64_t first, std::uint64_t end,
                   std::vector<std::byte>& into) const {
    const auto bytes = size_of(fields_[0].dtype);
    if (document.size() + separator_.size() != (ends_[number] - begin_of(ends_, number)) * bytes)
      throw Error(
          fmt::format("pack: sample {} of the source now has a different number of values in '{}', "
                      "compared with the first scan; the source must not change during a run",
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
  Fields fields_;
  std::vector<std::uint64_t> ends_;
};

/// Returns the bytes of `number` as a value of type `dtype`.
std::vector<std::byte> value_of(std::int64_t number, DType dtype) {
  std::vector<std::byte> bytes(size_of(dtype));
  const auto put = [&](auto value) {
    if (static_cast<std::int64_t>(value) != number)
      throw UsageError(fmt::format("the separator {} does not fit into {}, the type of the field", number, name_of(dtype)));
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
          fmt::format("a separator cannot be stored in a field of type {}; valid are u8, i32 and i64", name_of(dtype)));
  }
  return bytes;
}

struct Packing {
  std::string field;
  std::uint64_t length;
  std::optional<std::int64_t> separator;

  Dataset::Field made(const Fields& before) const {
    const auto& lists = before[find_field(before, field)];
    if (!lists.varies)
      throw UsageError(fmt::format(
          "pack() concatenates lists of varying length, but all samples of '{}' have the same number of values", field));
    if (length == 0) throw UsageError("pack(): the length of the new samples is 0; it must be at least 1");
    if (separator) value_of(*separator, lists.dtype);
    return {field, lists.dtype, {static_cast<std::int64_t>(length)}};
  }

  Step::Result apply(const DatasetPlan& input) const {
    const auto& before = input.source->fields();
    const auto at = find_field(before, field);
    auto made = this->made(before);
    auto end = separator ? value_of(*separator, made.dtype) : std::vector<std::byte>();
    const std::int64_t more = separator ? 1 : 0;
    auto ends =
        ends_of(gather_from_scan(input, at, "pack", [&](const TensorView& values) { return values.shape[0] + more; }));
    if (ends.back() < length)
      throw UsageError(
          fmt::format("cannot pack a sample of {} values, because the dataset has only {} values", length, ends.back()));
    auto identity = identity_of_made(
        fmt::format("'{}' packed by {}{}", field, length, separator ? fmt::format(" with separator {}", *separator) : ""),
        ends.back() / length, ends);
    return {std::make_shared<PackedSource>(input.source, at, std::move(made), std::move(end), std::move(ends)),
            std::move(identity)};
  }
};

constexpr std::string_view pack_form = "FIELD LENGTH [separator=VALUE]";

Step make_pack(const std::string& text) {
  KeyWords words(text, pack_form);
  const auto separator = words.number("separator");
  const auto field = words.take();
  const auto length = words.take_number(1);
  words.end();
  return pack_step(field, length, separator);
}

}  // namespace

Step pack_step(const std::string& field, std::uint64_t length, std::optional<std::int64_t> separator) {
  const Packing packing{field, length, separator};
  return {Effect::makes, [packing](const Fields& before) { return Fields{packing.made(before)}; },
          [packing](const DatasetPlan& input) { return packing.apply(input); }};
}

namespace plugins {

extern const OperationKind pack{
    .name = "pack",
    .help =
        "concatenates the values of a field that varies in length, such as documents of tokens, "
        "with the separator after each, and cuts them into samples of LENGTH values; the other fields are dropped",
    .form = pack_form,
    .make = make_pack,
    .order = 2};

}  // namespace plugins

}  // namespace trainrt::data
