// NumPy's archive: a zip file of .npy arrays (NumPy Enhancement Proposal 1), read by numpy.load without pickle.
#include <set>

#include <fmt/format.h>

#include "cli/files/npy_array.hpp"
#include "cli/files/zip_file.hpp"
#include "cli/inspect/exporter.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

using checkpoint::PieceReader;

namespace {

void add_text(ZipFile& zip, const std::string& name, const std::string& head, std::string_view bytes) {
  zip.begin(name, head.size() + bytes.size());
  zip.write(std::as_bytes(std::span(head)));
  zip.write(std::as_bytes(std::span(bytes)));
}

/// As UTF-32, NumPy's texts; `text` is UTF-8.
std::u32string utf32(const std::string& text) {
  std::u32string wide;
  for (const unsigned char c : text)
    if ((c & 0xC0) == 0x80)
      wide.back() = (wide.back() << 6) | (c & 0x3F);
    else
      wide += c < 0x80 ? c : c < 0xE0 ? c & 0x1F : c < 0xF0 ? c & 0x0F : c & 0x07;
  return wide;
}

void add_value(ZipFile& zip, const PieceReader::NamedValue& value) {
  const auto name = value.name + ".npy";
  auto bytes = bytes_of(value.value);
  if (value.dtype != "string") return add_text(zip, name, npy_header(npy_description(dtype_from(value.dtype)), {}), bytes);
  if (is_utf8(bytes)) {
    auto wide = utf32(bytes);
    if (wide.empty()) wide.resize(1);
    return add_text(zip, name, npy_header(fmt::format("<U{}", wide.size()), {}),
                    {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(char32_t)});
  }
  add_text(zip, name, npy_header(fmt::format("|S{}", bytes.size()), {}), bytes);
}

std::vector<std::string> write_npz(const ExportSource& source, NewFile& file) {
  ZipFile zip(file);
  for (const auto* value : source.values()) add_value(zip, *value);
  std::set<std::string_view> converted_types;
  const auto begin = [&](const PieceReader::Tensor& tensor) {
    const auto head = npy_header(npy_description(tensor.dtype), tensor.shape);
    const auto wider = is_widened(tensor.dtype) ? sizeof(float) / size_of(tensor.dtype) : 1;
    zip.begin(tensor.name + ".npy", head.size() + bytes_of(tensor) * wider);
    zip.write(std::as_bytes(std::span(head)));
    if (wider > 1) converted_types.insert(trainrt::name_of(tensor.dtype));
  };
  for (const auto* tensor : source.tensors())
    if (bytes_of(*tensor) == 0) begin(*tensor);
  source.stream([&](const TensorPiece& piece) {
    if (piece.first == 0) begin(piece.tensor);
    if (is_widened(piece.tensor.dtype)) {
      const auto floats = widened(piece.tensor.dtype, piece.bytes);
      zip.write(std::as_bytes(std::span(floats)));
    } else {
      zip.write(piece.bytes);
    }
  });
  zip.finish();
  if (converted_types.empty()) return {};
  return {fmt::format("NumPy has no {}: such tensors are float32 in the file, with the same numbers",
                      fmt::join(converted_types, ", "))};
}

}  // namespace

extern const Exporter npz;
const Exporter npz{.name = "npz",
                   .extension = ".npz",
                   .help = "numpy.load reads it; bf16 and f8 become float32, with the same numbers",
                   .write = write_npz};

}  // namespace trainrt::cli::plugins
