#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_scan.hpp"
#include "data/reshape/key_words.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/sample_ends.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/recent_samples.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// A source with samples of one length, which are cut from the concatenated values of a field.
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
  /// Appends one sample. It consists of the overlapping parts of one or more documents.
  void append(std::uint64_t sample, std::vector<std::byte>& into) const {
    const auto first = sample * length_, end = first + length_;
    const auto from = part_at(ends_, first), to = part_at(ends_, end - 1) + 1;
    std::vector<std::uint64_t>
        numbers;  // numbers of the documents that are not empty; on_error = skip may have removed some
    for (auto number = from; number < to; ++number)
      if (begin_of(ends_, number) < ends_[number]) numbers.push_back(number);
    const auto documents = documents_.read(numbers);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto begin = begin_of(ends_, numbers[i]);
      append_part(*documents[i], numbers[i], std::max(first, begin) - begin, std::min(end, ends_[numbers[i]]) - begin,
                  into);
    }
  }

  /// Appends the values from `first` to `end` of a document. The separator counts as the last value of the document.
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
  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;
};

/// Returns the bytes of `number` as a value of type `dtype`.
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
          fmt::format("a separator cannot be stored in a field of type {}; valid are u8, i32 and i64", name_of(dtype)));
  }
  return bytes;
}

class Pack final : public Step {
 public:
  Pack(std::string field, std::uint64_t length, std::optional<std::int64_t> separator)
      : field_(std::move(field)), length_(length), separator_(separator) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    const auto& field = before[find_field(before, field_)];
    if (!field.varies)
      throw UsageError(fmt::format(
          "pack() concatenates lists of varying length, but all samples of '{}' have the same number of values", field_));
    if (length_ == 0) throw UsageError("pack() to samples without a value");
    if (separator_) value_of(*separator_, field.dtype);
    return {{field.name, field.dtype, {static_cast<std::int64_t>(length_)}}};
  }

  Result apply(const DatasetPlan& input) const override {
    const auto& before = input.source->fields();
    const auto at = find_field(before, field_);
    auto made = fields(before).front();
    auto separator = separator_ ? value_of(*separator_, made.dtype) : std::vector<std::byte>();
    const std::int64_t more = separator_ ? 1 : 0;
    auto ends =
        ends_of(gather_from_scan(input, at, "pack", [&](const TensorView& values) { return values.shape[0] + more; }));
    if (ends.back() < length_)
      throw UsageError(
          fmt::format("cannot pack a sample of {} values, because the dataset has only {} values", length_, ends.back()));
    auto identity = identity_of_made(fmt::format("'{}' packed by {}{}", field_, length_,
                                                 separator_ ? fmt::format(" with separator {}", *separator_) : ""),
                                     ends.back() / length_, ends);
    return {std::make_shared<PackedSource>(input.source, at, std::move(made), std::move(separator), std::move(ends)),
            std::move(identity)};
  }

 private:
  std::string field_;
  std::uint64_t length_;
  std::optional<std::int64_t> separator_;
};

constexpr std::string_view pack_form = "FIELD LENGTH [separator=VALUE]";

std::shared_ptr<const Step> make_pack(const std::string& text) {
  KeyWords words(text, pack_form);
  const auto separator = words.number("separator");
  auto field = words.take();
  const auto length = words.take_number(1);
  words.end();
  return pack_step(std::move(field), length, separator);
}

}  // namespace

std::shared_ptr<const Step> pack_step(std::string field, std::uint64_t length, std::optional<std::int64_t> separator) {
  return std::make_shared<Pack>(std::move(field), length, separator);
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
