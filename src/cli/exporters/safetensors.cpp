// Writes the safetensors format of Hugging Face: the length of a JSON header, the header, and the bytes of all tensors.
#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "cli/checkpoints/exporter.hpp"

namespace trainrt::cli::plugins {

using checkpoint::PieceReader;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t max_header_bytes = 100'000'000;  // limit of the safetensors library
const std::string metadata_key = "__metadata__";

const char* format_name(DType dtype) {
  static const std::map<DType, const char*> names{
      {DType::f64, "F64"},        {DType::f32, "F32"},        {DType::f16, "F16"}, {DType::bf16, "BF16"},
      {DType::f8e4m3, "F8_E4M3"}, {DType::f8e5m2, "F8_E5M2"}, {DType::i64, "I64"}, {DType::i32, "I32"},
      {DType::i16, "I16"},        {DType::i8, "I8"},          {DType::u8, "U8"},   {DType::boolean, "BOOL"}};
  return names.at(dtype);
}

/// A tensor of the file: a tensor of the checkpoint, or a number as a tensor without axes.
struct Item {
  std::string name;
  DType dtype;
  Shape shape;
  const PieceReader::Tensor* tensor;     ///< nullptr for a number
  const PieceReader::NamedValue* value;  ///< nullptr for a tensor
  std::uint64_t at = 0;                  ///< offset after the header

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype); }
};

/// Returns the tensors in the order of the library: the widest types first, so that each tensor is aligned for its type.
std::vector<Item> items_of(const ExportSource& source) {
  std::vector<Item> items;
  for (const auto* tensor : source.tensors())
    items.push_back({tensor->name, tensor->dtype, tensor->shape, tensor, nullptr});
  for (const auto* value : source.values())
    if (value->dtype != "string") items.push_back({value->name, dtype_from(value->dtype), {}, nullptr, value});
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const auto size_a = size_of(a.dtype);
    const auto size_b = size_of(b.dtype);
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
  std::uint64_t at = 0;
  for (auto& item : items) {
    item.at = at;
    at += item.bytes();
  }
  return items;
}

[[noreturn]] void throw_reserved(const std::string& name) {
  throw UsageError(
      fmt::format("the name '{}' is reserved in safetensors files: exclude it with --tensors '!{}'", name, name));
}

/// Returns the entries of __metadata__: the description of the checkpoint, and all strings, which cannot be tensors.
/// The transformers library requires the entry "format".
Json metadata_of(const ExportSource& source) {
  Json metadata = {{"format", "pt"}, {"trainrt", source.meta_text()}};
  for (const auto* value : source.values()) {
    if (value->dtype != "string") continue;
    if (metadata.contains(value->name)) throw_reserved(value->name);
    metadata[value->name] = bytes_of(value->value);
  }
  return metadata;
}

std::string header_of(const ExportSource& source, const std::vector<Item>& items) {
  Json header;
  header[metadata_key] = metadata_of(source);
  for (const auto& item : items) {
    if (item.name == metadata_key) throw_reserved(item.name);
    header[item.name] = {
        {"dtype", format_name(item.dtype)}, {"shape", item.shape}, {"data_offsets", {item.at, item.at + item.bytes()}}};
  }
  auto text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > max_header_bytes)
    throw Error(fmt::format(
        "the header would have {} bytes, but safetensors allows at most {}; select fewer tensors with --tensors",
        text.size(), max_header_bytes));
  return text;
}

std::vector<std::string> write_safetensors(const ExportSource& source, AtomicFile& file) {
  const auto items = items_of(source);
  const auto header = header_of(source, items);
  const std::uint64_t length = header.size();
  const auto data_at = sizeof length + length;
  static_assert(std::endian::native == std::endian::little);
  file.reserve(data_at + (items.empty() ? 0 : items.back().at + items.back().bytes()));
  file.write(0, std::as_bytes(std::span(&length, 1)));
  file.write(sizeof length, header);
  Tensors order;
  std::map<const PieceReader::Tensor*, std::uint64_t> offsets;
  for (const auto& item : items) {
    if (item.value != nullptr) {
      file.write(data_at + item.at, bytes_of(item.value->value));
    } else {
      order.push_back(item.tensor);
      offsets[item.tensor] = data_at + item.at;
    }
  }
  source.stream(order, [&](const TensorPiece& piece) { file.write(offsets.at(&piece.tensor) + piece.first, piece.bytes); });
  return {};
}

}  // namespace

extern const Exporter safetensors;
const Exporter safetensors{
    .name = "safetensors",
    .extension = ".safetensors",
    .help = "Hugging Face's format: numbers are tensors without axes, and strings are in __metadata__",
    .write = write_safetensors};

}  // namespace trainrt::cli::plugins
