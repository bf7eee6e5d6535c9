#include "data/arrays/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // maximum size of a header that the safetensors format allows
constexpr int header_levels = 3;  // maximum nesting depth of the header's JSON: all tensors, one tensor, its shape

struct SafeType {
  std::string_view kind;
  std::size_t bytes;
  std::optional<DType> dtype;  ///< nullopt: trainrt does not support the type
};

constexpr std::array<SafeType, 15> safe_types = {{{"F64", 8, DType::f64},
                                                  {"F32", 4, DType::f32},
                                                  {"F16", 2, DType::f16},
                                                  {"BF16", 2, DType::bf16},
                                                  {"F8_E4M3", 1, DType::f8e4m3},
                                                  {"F8_E5M2", 1, DType::f8e5m2},
                                                  {"I64", 8, DType::i64},
                                                  {"I32", 4, DType::i32},
                                                  {"I16", 2, DType::i16},
                                                  {"I8", 1, DType::i8},
                                                  {"U8", 1, DType::u8},
                                                  {"BOOL", 1, DType::boolean},
                                                  {"U64", 8, std::nullopt},
                                                  {"U32", 4, std::nullopt},
                                                  {"U16", 2, std::nullopt}}};

const SafeType* type_of(std::string_view kind) {
  const auto* const found = std::ranges::find(safe_types, kind, &SafeType::kind);
  return found == safe_types.end() ? nullptr : found;
}

/// Returns the beginning of a message about a tensor: "safetensors file PATH: the tensor 'NAME'".
std::string in_tensor(const std::string& what, const std::string& name) {
  return fmt::format("{}: the tensor '{}'", what, printable_line(excerpt(name, 100)));
}

/// Returns the unsigned integers in the array `json[key]`. Throws UsageError if the array is missing or contains other
/// values. The message begins with `tensor`.
std::vector<std::uint64_t> numbers_of(const Json& json, const char* key, const std::string& tensor) {
  if (!json.contains(key) || !json[key].is_array()) throw UsageError(fmt::format("{} has no {}", tensor, key));
  if (!std::ranges::all_of(json[key], [](const Json& number) { return number.is_number_unsigned(); }))
    throw UsageError(fmt::format("{}: {} must be a list of integers of 0 or more", tensor, key));
  return json[key].get<std::vector<std::uint64_t>>();
}

SafeTensor tensor_of(const std::string& name, const Json& json, const std::string& what) {
  const auto in = in_tensor(what, name);
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string()) throw UsageError(in + " has no dtype");
  const auto shape = numbers_of(json, "shape", in), offsets = numbers_of(json, "data_offsets", in);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw UsageError(in + " has no valid data_offsets; they must be [BEGIN, END], with BEGIN <= END");
  SafeTensor tensor{name, json["dtype"].get<std::string>(), {}, offsets[0], offsets[1] - offsets[0]};
  const auto* type = type_of(tensor.kind);
  auto bytes = static_cast<std::int64_t>(type == nullptr ? 1 : type->bytes);
  for (const auto extent : shape) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
        __builtin_mul_overflow(bytes, static_cast<std::int64_t>(extent), &bytes))
      throw UsageError(in + " has a shape with more values than a file can hold");
    tensor.shape.push_back(static_cast<std::int64_t>(extent));
  }
  if (type != nullptr && static_cast<std::uint64_t>(bytes) != tensor.bytes)
    throw UsageError(fmt::format("{} has type and shape {}{}, which need {} bytes, but its data has {} bytes", in,
                                 tensor.kind, to_string(tensor.shape), bytes, tensor.bytes));
  return tensor;
}

/// Parses the header. Also throws UsageError if a name occurs twice, because the JSON library accepts duplicate names.
Json parsed(std::string_view json, const std::string& what) {
  const auto no_object = what + ": its header is not a JSON object of tensors; is it a safetensors file?";
  if (json.empty() || json.front() != '{' || is_nested_deeper(json, header_levels)) throw UsageError(no_object);
  std::set<std::string> names;
  std::string twice;
  const auto note_name = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  auto made = Json::parse(json, note_name, false);
  if (made.is_discarded() || !made.is_object()) throw UsageError(no_object);
  if (!twice.empty()) throw UsageError(fmt::format("{}: two tensors have the name '{}'", what, excerpt(twice, 100)));
  return made;
}

void require_no_gaps(std::vector<SafeTensor> tensors, std::uint64_t data_bytes, const std::string& what) {
  std::ranges::sort(tensors, {}, [](const SafeTensor& tensor) { return std::pair(tensor.begin, tensor.bytes); });
  std::uint64_t end = 0;
  for (const auto& tensor : tensors) {
    if (tensor.begin != end || tensor.bytes > data_bytes - end)
      throw UsageError(
          fmt::format("{} overlaps the previous tensor, follows a gap, or ends after the end of the file: "
                      "it begins at byte {} of {}, and the previous tensor ends at byte {}",
                      in_tensor(what, tensor.name), tensor.begin, data_bytes, end));
    end += tensor.bytes;
  }
  if (end != data_bytes)
    throw UsageError(fmt::format("{}: the file has {} bytes after the last tensor; it must end with the last tensor", what,
                                 data_bytes - end));
}

}  // namespace

std::vector<SafeTensor> safetensors_of(std::string_view json, std::uint64_t file_bytes, const std::string& what) {
  const auto data_begin = length_bytes + json.size();
  if (file_bytes < data_begin) throw UsageError(what + ": the file is truncated within its header; copy it here again");
  std::vector<SafeTensor> tensors;
  const auto header = parsed(json, what);
  for (const auto& [name, tensor] : header.items())
    if (name != "__metadata__") tensors.push_back(tensor_of(name, tensor, what));
  require_no_gaps(tensors, file_bytes - data_begin, what);
  for (auto& tensor : tensors) tensor.begin += data_begin;
  return tensors;
}

std::vector<SafeTensor> safetensors_of(const InputFile& file) {
  const auto what = "safetensors file " + file.path();
  std::array<std::uint8_t, length_bytes> length{};
  if (file.size() < length_bytes) throw UsageError(what + ": the file is truncated within its header; copy it here again");
  file.read(0, std::as_writable_bytes(std::span(length)));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) bytes |= std::uint64_t{length[i]} << (8 * i);
  if (bytes > max_header_bytes || bytes > file.size() - length_bytes)
    throw UsageError(
        fmt::format("{}: its header declares {} bytes, but the file has {}; it is truncated, or not a safetensors file",
                    what, bytes, file.size()));
  constexpr std::uint64_t max_bytes_parsed = 16;  // maximum number of bytes of memory to parse a byte of the JSON text
  require_memory(bytes * max_bytes_parsed, what + ": its header");
  std::string json(bytes, '\0');
  file.read(length_bytes, std::as_writable_bytes(std::span(json)));
  return safetensors_of(json, file.size(), what);
}

DType dtype_of(const SafeTensor& tensor, const std::string& what) {
  const auto* type = type_of(tensor.kind);
  if (type != nullptr && type->dtype) return *type->dtype;
  throw UsageError(
      fmt::format("{} has type {}, which is not supported; valid are F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I64, I32, I16, "
                  "I8, U8 and BOOL. To leave the tensor out, set the key 'fields'",
                  in_tensor(what, tensor.name), printable_line(excerpt(tensor.kind, 40))));
}

}  // namespace trainrt::data
