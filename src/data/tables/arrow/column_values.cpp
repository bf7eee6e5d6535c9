#include "data/tables/arrow/column_values.hpp"

#include <cstring>
#include <string_view>
#include <vector>

#include <arrow/array/array_dict.h>
#include <arrow/extension_type.h>
#include <trainrt/error.hpp>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

[[noreturn]] void throw_damaged() { throw Error("the file is damaged: an offset or index of a value is out of range"); }

[[noreturn]] void throw_other_type() { throw Error("the file is damaged: the type of a column differs from the schema"); }

void require_within(const arrow::Array& array, std::int64_t begin, std::int64_t count) {
  if (begin < 0 || count < 0 || begin > array.length() || count > array.length() - begin) throw_damaged();
}

Validity validity_of(const arrow::Array& array, std::int64_t begin) {
  return array.null_count() == 0 ? Validity{} : Validity{array.null_bitmap_data(), array.offset() + begin};
}

template <class From>
void put_from(const arrow::Array& array, DType dtype, const Run& run) {
  const auto& buffers = array.data()->buffers;
  if (buffers.size() < 2 || !buffers[1]) throw_damaged();
  put_as(reinterpret_cast<const From*>(buffers[1]->data()) + array.offset() + run.begin, dtype, run);
}

void put_flags(const arrow::Array& array, DType dtype, const Run& run) {
  const auto& flags = static_cast<const arrow::BooleanArray&>(array);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(run.count));
  for (std::int64_t i = 0; i < run.count; ++i) bytes[static_cast<std::size_t>(i)] = flags.Value(run.begin + i) ? 1 : 0;
  put_as(bytes.data(), dtype, run);
}

/// Stores the values of an array of single numbers or times.
void put_numbers(const arrow::Array& array, Run run, DType dtype) {
  require_within(array, run.begin, run.count);
  if (run.count == 0) return;
  run.validity = validity_of(array, run.begin);
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return put_flags(array, dtype, run);
    case arrow::Type::INT8:
      return put_from<std::int8_t>(array, dtype, run);
    case arrow::Type::UINT8:
      return put_from<std::uint8_t>(array, dtype, run);
    case arrow::Type::INT16:
      return put_from<std::int16_t>(array, dtype, run);
    case arrow::Type::UINT16:
      return put_from<std::uint16_t>(array, dtype, run);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
      return put_from<std::int32_t>(array, dtype, run);
    case arrow::Type::UINT32:
      return put_from<std::uint32_t>(array, dtype, run);
    case arrow::Type::UINT64:
      return put_from<std::uint64_t>(array, dtype, run);
    case arrow::Type::INT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return put_from<std::int64_t>(array, dtype, run);
    case arrow::Type::HALF_FLOAT:
      return put_from<Half>(array, dtype, run);
    case arrow::Type::FLOAT:
      return put_from<float>(array, dtype, run);
    case arrow::Type::DOUBLE:
      return put_from<double>(array, dtype, run);
    default:
      throw_other_type();
  }
}

void put_fixed(const arrow::Array& array, const Run& run, DType dtype);

/// Stores NaN for all `run.per_row` elements of a sample that is missing.
void put_missing_sample(const Run& run, DType dtype) {
  const float unused = 0;
  const std::uint8_t no_bits = 0;
  Run one{.count = 1, .stride = value_bytes(dtype), .first_row = run.first_row, .validity = {&no_bits, 0}};
  for (std::uint64_t i = 0; i < run.per_row; ++i) {
    one.out = run.out + i * value_bytes(dtype);
    put_as(&unused, dtype, one);
  }
}

void put_vectors(const arrow::FixedSizeListArray& vectors, const Run& run, DType dtype) {
  require_within(vectors, run.begin, run.count);
  const auto width = std::int64_t{vectors.value_length()};
  if (width <= 0) throw_damaged();
  auto inner = run;
  inner.begin = (vectors.offset() + run.begin) * width;
  const auto validity = validity_of(vectors, run.begin);
  if (validity.bits == nullptr && run.stride == static_cast<std::size_t>(width) * value_bytes(dtype)) {
    inner.count = run.count * width;
    inner.stride = value_bytes(dtype);
    inner.per_row = run.per_row * static_cast<std::uint64_t>(width);
    return put_fixed(*vectors.values(), inner, dtype);
  }
  inner.count = width;
  inner.stride = run.stride / static_cast<std::size_t>(width);
  inner.per_row = static_cast<std::uint64_t>(run.stride / value_bytes(dtype));
  for (std::int64_t i = 0; i < run.count; ++i, inner.begin += width, inner.out += run.stride) {
    inner.first_row = run.first_row + static_cast<std::uint64_t>(i) / run.per_row;
    if (validity.at(i))
      put_fixed(*vectors.values(), inner, dtype);
    else
      put_missing_sample(inner, dtype);
  }
}

void put_byte_vectors(const arrow::FixedSizeBinaryArray& vectors, const Run& run) {
  require_within(vectors, run.begin, run.count);
  const auto validity = validity_of(vectors, run.begin);
  auto* out = run.out;
  for (std::int64_t i = 0; i < run.count; ++i, out += run.stride) {
    if (!validity.at(i)) throw_missing(run.first_row + static_cast<std::uint64_t>(i));
    std::memcpy(out, vectors.GetValue(run.begin + i), static_cast<std::size_t>(vectors.byte_width()));
  }
}

std::int64_t checked_index(const arrow::DictionaryArray& array, std::int64_t at) {
  const auto index = array.GetValueIndex(at);
  if (index < 0 || index >= array.dictionary()->length()) throw_damaged();
  return index;
}

void put_from_dictionary(const arrow::DictionaryArray& array, const Run& run, DType dtype) {
  require_within(array, run.begin, run.count);
  const auto validity = validity_of(array, run.begin);
  auto one = run;
  one.count = 1;
  for (std::int64_t i = 0; i < run.count; ++i, one.out += run.stride) {
    one.first_row = run.first_row + static_cast<std::uint64_t>(i) / run.per_row;
    if (!validity.at(i)) {
      one.per_row = run.stride / value_bytes(dtype);
      put_missing_sample(one, dtype);
      continue;
    }
    one.begin = checked_index(array, run.begin + i);
    put_fixed(*array.dictionary(), one, dtype);
  }
}

/// Writes the samples of `run` to the output of `run`, as numbers of type `dtype`. All samples of `array` must have the
/// same number of values.
void put_fixed(const arrow::Array& array, const Run& run, DType dtype) {
  switch (array.type_id()) {
    case arrow::Type::FIXED_SIZE_LIST:
      return put_vectors(static_cast<const arrow::FixedSizeListArray&>(array), run, dtype);
    case arrow::Type::FIXED_SIZE_BINARY:
      return put_byte_vectors(static_cast<const arrow::FixedSizeBinaryArray&>(array), run);
    case arrow::Type::DICTIONARY:
      return put_from_dictionary(static_cast<const arrow::DictionaryArray&>(array), run, dtype);
    case arrow::Type::EXTENSION:
      return put_fixed(*static_cast<const arrow::ExtensionArray&>(array).storage(), run, dtype);
    default:
      return put_numbers(array, run, dtype);
  }
}

template <class Texts>
std::string_view text_between(const Texts& array, std::int64_t at) {
  const std::int64_t begin = array.value_offset(at), end = array.value_offset(at + 1);
  const auto bytes = array.value_data() ? array.value_data()->size() : 0;
  if (begin < 0 || end < begin || end > bytes) throw_damaged();
  if (begin == end) return {};
  return {reinterpret_cast<const char*>(array.value_data()->data()) + begin, static_cast<std::size_t>(end - begin)};
}

std::string_view text_at(const arrow::Array& array, std::int64_t at) {
  if (array.IsNull(at)) return {};
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return text_between(static_cast<const arrow::BinaryArray&>(array), at);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return text_between(static_cast<const arrow::LargeBinaryArray&>(array), at);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return static_cast<const arrow::BinaryViewArray&>(array).GetView(at);
    case arrow::Type::DICTIONARY: {
      const auto& words = static_cast<const arrow::DictionaryArray&>(array);
      return text_at(*words.dictionary(), checked_index(words, at));
    }
    default:
      throw_other_type();
  }
}

void append_texts(const arrow::Array& array, const TableTarget& target) {
  auto& to = *target.varying;
  for (std::int64_t i = 0; i < array.length(); ++i) {
    const auto text = std::as_bytes(std::span(text_at(array, i)));
    require_room_for(text.size(), target);
    to.values.insert(to.values.end(), text.begin(), text.end());
    to.ends.push_back(to.values.size());
  }
}

template <class Lists>
void append_lists(const Lists& array, DType dtype, std::uint64_t first_row, const TableTarget& target) {
  auto& to = *target.varying;
  const auto bytes = value_bytes(dtype);
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) {
      const std::int64_t begin = array.value_offset(i), count = array.value_offset(i + 1) - begin;
      require_within(*array.values(), begin, count);
      const auto at = to.values.size();
      require_room_for(static_cast<std::size_t>(count) * bytes, target);
      to.values.resize(at + static_cast<std::size_t>(count) * bytes);
      put_fixed(*array.values(),
                {begin, count, to.values.data() + at, bytes, first_row + static_cast<std::uint64_t>(i),
                 static_cast<std::uint64_t>(count) + 1},
                dtype);
    }
    to.ends.push_back(to.values.size());
  }
}

void append_varying(const arrow::Array& array, const TableColumn& column, std::uint64_t first_row,
                    const TableTarget& target) {
  switch (array.type_id()) {
    case arrow::Type::LIST:
      return append_lists(static_cast<const arrow::ListArray&>(array), column.dtype, first_row, target);
    case arrow::Type::LARGE_LIST:
      return append_lists(static_cast<const arrow::LargeListArray&>(array), column.dtype, first_row, target);
    case arrow::Type::EXTENSION:
      return append_varying(*static_cast<const arrow::ExtensionArray&>(array).storage(), column, first_row, target);
    default:
      return append_texts(array, target);
  }
}

/// Throws Error if the sizes of an array's buffers are invalid. For views and dictionaries, also checks each element,
/// because the code that reads them does not check their offsets.
void require_sound(const arrow::Array& array) {
  const auto id = array.type_id();
  const bool has_views = id == arrow::Type::STRING_VIEW || id == arrow::Type::BINARY_VIEW || id == arrow::Type::DICTIONARY;
  const auto status = has_views ? array.ValidateFull() : array.Validate();
  if (!status.ok()) throw Error("the file is damaged: " + status.message());
}

}  // namespace

void put_values(const arrow::Array& array, const TableColumn& column, const TableTarget& target, const FirstRow& first) {
  in_column(column, [&] {
    require_sound(array);
    if (target.varying != nullptr) return append_varying(array, column, first.in_file, target);
    auto* const out = target.values + first.in_block * target.stride;
    put_fixed(array, {0, array.length(), out, target.stride, first.in_file, 1, target.must_be_exact}, target.dtype);
  });
}

}  // namespace trainrt::data::arrow_module
