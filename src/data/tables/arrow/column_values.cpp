#include "data/tables/arrow/column_values.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include <arrow/array/array_dict.h>
#include <arrow/extension_type.h>
#include <trainrt/error.hpp>

#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

/// Elements `begin`, ... of an array, and where they go.
struct Part {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::byte* out = nullptr;
  std::size_t stride = 0;
  std::uint64_t first_row = 0;
  std::uint64_t per_row = 1;
  bool must_fit = false;
};

[[noreturn]] void refuse_damaged() { throw Error("the file is damaged: places of values lie outside of it"); }

void require_within(const arrow::Array& array, std::int64_t begin, std::int64_t count) {
  if (begin < 0 || count < 0 || begin > array.length() || count > array.length() - begin) refuse_damaged();
}

Validity validity_of(const arrow::Array& array, std::int64_t begin) {
  return array.null_count() == 0 ? Validity{} : Validity{array.null_bitmap_data(), array.offset() + begin};
}

std::size_t bytes_of(DType dtype) {  // the module has none of the program's functions
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
      return 2;
    default:
      return 1;
  }
}

template <class From>
void put_from(const arrow::Array& array, const Part& part, DType dtype, const Run& run) {
  const auto& buffers = array.data()->buffers;
  if (buffers.size() < 2 || !buffers[1]) refuse_damaged();
  put_as(reinterpret_cast<const From*>(buffers[1]->data()) + array.offset() + part.begin, dtype, run);
}

void put_flags(const arrow::Array& array, const Part& part, DType dtype, const Run& run) {
  const auto& flags = static_cast<const arrow::BooleanArray&>(array);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(part.count));
  for (std::int64_t i = 0; i < part.count; ++i) bytes[static_cast<std::size_t>(i)] = flags.Value(part.begin + i) ? 1 : 0;
  put_as(bytes.data(), dtype, run);
}

/// An array of single numbers, or of moments.
void put_numbers(const arrow::Array& array, const Part& part, DType dtype) {
  require_within(array, part.begin, part.count);
  if (part.count == 0) return;
  const Run run{part.count,   validity_of(array, part.begin), part.out, part.stride, part.first_row, part.per_row,
                part.must_fit};
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return put_flags(array, part, dtype, run);
    case arrow::Type::INT8:
      return put_from<std::int8_t>(array, part, dtype, run);
    case arrow::Type::UINT8:
      return put_from<std::uint8_t>(array, part, dtype, run);
    case arrow::Type::INT16:
      return put_from<std::int16_t>(array, part, dtype, run);
    case arrow::Type::UINT16:
      return put_from<std::uint16_t>(array, part, dtype, run);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
      return put_from<std::int32_t>(array, part, dtype, run);
    case arrow::Type::UINT32:
      return put_from<std::uint32_t>(array, part, dtype, run);
    case arrow::Type::UINT64:
      return put_from<std::uint64_t>(array, part, dtype, run);
    case arrow::Type::INT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return put_from<std::int64_t>(array, part, dtype, run);
    case arrow::Type::HALF_FLOAT:
      return put_from<Half>(array, part, dtype, run);
    case arrow::Type::FLOAT:
      return put_from<float>(array, part, dtype, run);
    case arrow::Type::DOUBLE:
      return put_from<double>(array, part, dtype, run);
    default:
      throw Error("a column is of another type than the file's schema says");
  }
}

void put_fixed(const arrow::Array& array, const Part& part, DType dtype);

/// A sample without values: all of them are NaN.
void put_no_values(const Part& part, DType dtype) {
  const float none = 0;
  const std::uint8_t no_bits = 0;
  for (std::uint64_t i = 0; i < part.per_row; ++i)
    put_as(&none, dtype, Run{1, {&no_bits, 0}, part.out + i * bytes_of(dtype), bytes_of(dtype), part.first_row});
}

void put_vectors(const arrow::FixedSizeListArray& vectors, const Part& part, DType dtype) {
  require_within(vectors, part.begin, part.count);
  const auto width = std::int64_t{vectors.value_length()};
  if (width <= 0) refuse_damaged();
  const auto per_row = part.per_row * static_cast<std::uint64_t>(width);
  auto inner = part;
  inner.begin = (vectors.offset() + part.begin) * width;
  inner.per_row = per_row;
  const auto validity = validity_of(vectors, part.begin);
  if (validity.bits == nullptr && part.stride == static_cast<std::size_t>(width) * bytes_of(dtype)) {
    inner.count = part.count * width;
    inner.stride = bytes_of(dtype);
    return put_fixed(*vectors.values(), inner, dtype);
  }
  inner.count = width;
  inner.stride = part.stride / static_cast<std::size_t>(width);
  inner.per_row = static_cast<std::uint64_t>(part.stride / bytes_of(dtype));
  for (std::int64_t i = 0; i < part.count; ++i, inner.begin += width, inner.out += part.stride) {
    inner.first_row = part.first_row + static_cast<std::uint64_t>(i) / part.per_row;
    if (validity.at(i))
      put_fixed(*vectors.values(), inner, dtype);
    else
      put_no_values(inner, dtype);
  }
}

void put_byte_vectors(const arrow::FixedSizeBinaryArray& vectors, const Part& part) {
  require_within(vectors, part.begin, part.count);
  const auto validity = validity_of(vectors, part.begin);
  auto* out = part.out;
  for (std::int64_t i = 0; i < part.count; ++i, out += part.stride) {
    if (!validity.at(i)) refuse_missing(part.first_row + static_cast<std::uint64_t>(i));
    std::memcpy(out, vectors.GetValue(part.begin + i), static_cast<std::size_t>(vectors.byte_width()));
  }
}

std::int64_t checked_index(const arrow::DictionaryArray& array, std::int64_t at) {
  const auto index = array.GetValueIndex(at);
  if (index < 0 || index >= array.dictionary()->length()) refuse_damaged();
  return index;
}

void put_from_dictionary(const arrow::DictionaryArray& array, const Part& part, DType dtype) {
  require_within(array, part.begin, part.count);
  const auto validity = validity_of(array, part.begin);
  auto one = part;
  one.count = 1;
  for (std::int64_t i = 0; i < part.count; ++i, one.out += part.stride) {
    one.first_row = part.first_row + static_cast<std::uint64_t>(i) / part.per_row;
    if (!validity.at(i)) {
      one.per_row = part.stride / bytes_of(dtype);
      put_no_values(one, dtype);
      continue;
    }
    one.begin = checked_index(array, part.begin + i);
    put_fixed(*array.dictionary(), one, dtype);
  }
}

/// What does not vary in length.
void put_fixed(const arrow::Array& array, const Part& part, DType dtype) {
  switch (array.type_id()) {
    case arrow::Type::FIXED_SIZE_LIST:
      return put_vectors(static_cast<const arrow::FixedSizeListArray&>(array), part, dtype);
    case arrow::Type::FIXED_SIZE_BINARY:
      return put_byte_vectors(static_cast<const arrow::FixedSizeBinaryArray&>(array), part);
    case arrow::Type::DICTIONARY:
      return put_from_dictionary(static_cast<const arrow::DictionaryArray&>(array), part, dtype);
    case arrow::Type::EXTENSION:
      return put_fixed(*static_cast<const arrow::ExtensionArray&>(array).storage(), part, dtype);
    default:
      return put_numbers(array, part, dtype);
  }
}

template <class Texts>
std::string_view text_between(const Texts& array, std::int64_t at) {
  const std::int64_t begin = array.value_offset(at), end = array.value_offset(at + 1);
  const auto bytes = array.value_data() ? array.value_data()->size() : 0;
  if (begin < 0 || end < begin || end > bytes) refuse_damaged();
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
      throw Error("a column is of another type than the file's schema says");
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
  const auto bytes = bytes_of(dtype);
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

/// Looks at the sizes of buffers; of views, whose places are checked nowhere else, at each.
void require_sound(const arrow::Array& array) {
  const auto id = array.type_id();
  const bool has_views = id == arrow::Type::STRING_VIEW || id == arrow::Type::BINARY_VIEW || id == arrow::Type::DICTIONARY;
  const auto status = has_views ? array.ValidateFull() : array.Validate();
  if (!status.ok()) throw Error("the file is damaged: " + status.message());
}

}  // namespace

void put_values(const arrow::Array& array, const TableColumn& column, const TableTarget& target,
                const RowsPlace& place) try {
  require_sound(array);
  if (target.varying != nullptr) return append_varying(array, column, place.in_file, target);
  put_fixed(
      array,
      {0, array.length(), target.values + place.in_block * target.stride, target.stride, place.in_file, 1, target.must_fit},
      target.dtype);
} catch (const UsageError& error) {
  throw UsageError("column '" + column.name + "': " + error.what());
} catch (const Error& error) {
  throw Error("column '" + column.name + "': " + error.what());
}

}  // namespace trainrt::data::arrow_module
