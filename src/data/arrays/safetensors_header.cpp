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
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's own limit
constexpr int header_levels = 3;                          // of the file, of a tensor, of its shape

struct SafeType {
  std::string_view kind;
  std::size_t bytes;
  std::optional<DType> dtype;
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
  const auto found = std::ranges::find(safe_types, kind, &SafeType::kind);
  return found == safe_types.end() ? nullptr : &*found;
}

/// UsageErrors about a tensor.
class TensorReader {
 public:
  TensorReader(std::string name, const std::string& what) : name_(std::move(name)), what_(what) {}

  SafeTensor read(const Json& json) const {
    if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string()) throw wrong("has no dtype");
    SafeTensor tensor{name_, json["dtype"].get<std::string>(), {}, 0, 0};
    const auto shape = numbers_of(json, "shape"), offsets = numbers_of(json, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) throw wrong("has no data_offsets [BEGIN, END]");
    tensor.begin = offsets[0];
    tensor.bytes = offsets[1] - offsets[0];
    const auto* type = type_of(tensor.kind);
    std::uint64_t bytes = type == nullptr ? 1 : type->bytes;
    for (const auto extent : shape) {
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) || multiplied_beyond(bytes, extent))
        throw wrong("has a shape that no file can hold");
      bytes *= extent;
      tensor.shape.push_back(static_cast<std::int64_t>(extent));
    }
    if (type != nullptr && bytes != tensor.bytes)
      throw wrong(fmt::format("is {}{}, which takes {} bytes, and has {}", tensor.kind, to_string(tensor.shape), bytes,
                              tensor.bytes));
    return tensor;
  }

 private:
  static bool multiplied_beyond(std::uint64_t value, std::uint64_t by) {
    return by != 0 && value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / by;
  }

  UsageError wrong(const std::string& text) const {
    return UsageError(
        fmt::format("{}: the tensor '{}' {}", what_, printable_lines(excerpt(name_, 100) + "\n").front(), text));
  }

  std::vector<std::uint64_t> numbers_of(const Json& json, const char* key) const {
    std::vector<std::uint64_t> numbers;
    if (!json.contains(key) || !json[key].is_array()) throw wrong(fmt::format("has no {}", key));
    for (const auto& number : json[key]) {
      if (!number.is_number_unsigned()) throw wrong(fmt::format("has a {} that is not of whole numbers from 0 on", key));
      numbers.push_back(number.get<std::uint64_t>());
    }
    return numbers;
  }

  std::string name_;
  const std::string& what_;
};

/// Throws if a name stands in it twice, which the parser would let pass.
Json parsed(std::string_view json, const std::string& what) {
  if (json.empty() || json.front() != '{' || is_nested_deeper(json, header_levels))
    throw UsageError(what + ": its header is no JSON object of tensors");
  std::set<std::string> names;
  std::string twice;
  const auto note_name = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  auto made = Json::parse(json, note_name, false);
  if (made.is_discarded() || !made.is_object()) throw UsageError(what + ": its header is no JSON object of tensors");
  if (!twice.empty()) throw UsageError(fmt::format("{}: two tensors have the name '{}'", what, excerpt(twice, 100)));
  return made;
}

void require_no_gaps(std::vector<SafeTensor> tensors, std::uint64_t data_bytes, const std::string& what) {
  std::ranges::sort(tensors, {}, [](const SafeTensor& tensor) { return std::pair(tensor.begin, tensor.bytes); });
  std::uint64_t end = 0;
  for (const auto& tensor : tensors) {
    if (tensor.begin != end || tensor.bytes > data_bytes - end)
      throw UsageError(
          fmt::format("{}: the tensor '{}' lies where another one does, behind a gap, or beyond the end of the file: it "
                      "begins at {} of {} bytes, behind {}",
                      what, printable_lines(excerpt(tensor.name, 100) + "\n").front(), tensor.begin, data_bytes, end));
    end += tensor.bytes;
  }
  if (end != data_bytes)
    throw UsageError(fmt::format("{}: {} bytes behind its tensors belong to none", what, data_bytes - end));
}

}  // namespace

std::vector<SafeTensor> safetensors_of(std::string_view json, std::uint64_t file_bytes, const std::string& what) {
  const auto data_begin = length_bytes + json.size();
  if (file_bytes < data_begin) throw UsageError(what + ": it is cut within its header");
  std::vector<SafeTensor> tensors;
  const auto header = parsed(json, what);
  for (const auto& [name, tensor] : header.items())
    if (name != "__metadata__") tensors.push_back(TensorReader(name, what).read(tensor));
  require_no_gaps(tensors, file_bytes - data_begin, what);
  for (auto& tensor : tensors) tensor.begin += data_begin;
  return tensors;
}

std::vector<SafeTensor> safetensors_of(const InputFile& file) {
  const auto what = "safetensors file " + file.path();
  std::array<std::uint8_t, length_bytes> length{};
  if (file.size() < length_bytes) throw UsageError(what + ": it is cut within its header");
  file.read(0, std::as_writable_bytes(std::span(length)));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) bytes |= std::uint64_t{length[i]} << (8 * i);
  if (bytes > most_header_bytes || bytes > file.size() - length_bytes)
    throw UsageError(
        fmt::format("{}: its header would have {} bytes, and the file has {}: it is no safetensors file, or it is cut",
                    what, bytes, file.size()));
  constexpr std::uint64_t most_of_json = 16;  // bytes that a parsed one may take
  require_memory(bytes * most_of_json, what + ": its header");
  std::string json(bytes, '\0');
  file.read(length_bytes, std::as_writable_bytes(std::span(json)));
  return safetensors_of(json, file.size(), what);
}

DType dtype_of(const SafeTensor& tensor, const std::string& what) {
  const auto* type = type_of(tensor.kind);
  if (type != nullptr && type->dtype) return *type->dtype;
  throw UsageError(
      fmt::format("{}: the tensor '{}' is of the type {}, which is not supported: there are F64, F32, F16, BF16, F8_E4M3, "
                  "F8_E5M2, I64, I32, I16, I8, U8 and BOOL; the key fields chooses others",
                  what, printable_lines(excerpt(tensor.name, 100) + "\n").front(),
                  printable_lines(excerpt(tensor.kind, 40) + "\n").front()));
}

}  // namespace trainrt::data
