// Writes an archive of NumPy (.npz). Each tensor becomes an array, and each value becomes an array with zero
// dimensions.
#include <set>

#include <fmt/format.h>

#include "cli/checkpoints/exporter.hpp"
#include "cli/files/npy_array.hpp"
#include "cli/files/npz_file.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

using checkpoint::PieceReader;

namespace {

/// Converts valid UTF-8 to UTF-32, the encoding of strings in NumPy's arrays.
std::u32string utf32(std::string_view text) {
  std::u32string wide;
  while (!text.empty()) {
    const auto character = first_character(text);
    wide += character.point;
    text.remove_prefix(character.bytes);
  }
  return wide;
}

void add_string(NpzFile& npz, const std::string& name, const std::string& bytes) {
  if (!is_utf8(bytes)) return npz.add_scalar(name, fmt::format("|S{}", bytes.size()), bytes);
  auto wide = utf32(bytes);
  if (wide.empty()) wide.resize(1);  // NumPy has no type <U0
  npz.add_scalar(name, fmt::format("<U{}", wide.size()),
                 {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(char32_t)});
}

std::vector<std::string> write_npz(const ExportSource& source, AtomicFile& file) {
  NpzFile npz(file);
  for (const auto* value : source.values()) {
    const auto bytes = bytes_of(value->value);
    if (value->dtype == "string")
      add_string(npz, value->name, bytes);
    else
      npz.add_scalar(value->name, npy_description(dtype_from(value->dtype)), bytes);
  }
  std::set<std::string_view> converted_types;
  const auto begin = [&](const PieceReader::Tensor& tensor) {
    npz.begin(tensor.name, tensor.dtype, tensor.shape);
    if (is_widened(tensor.dtype)) converted_types.insert(trainrt::name_of(tensor.dtype));
  };
  for (const auto* tensor : source.tensors())
    if (bytes_of(*tensor) == 0) begin(*tensor);  // has no piece
  source.stream([&](const TensorPiece& piece) {
    if (piece.first == 0) begin(piece.tensor);
    npz.write(piece.bytes);
  });
  npz.finish();
  if (converted_types.empty()) return {};
  return {fmt::format("NumPy has no type {}: the file contains such tensors as float32, with the same values",
                      fmt::join(converted_types, ", "))};
}

}  // namespace

extern const Exporter npz;
const Exporter npz{.name = "npz",
                   .extension = ".npz",
                   .help = "NumPy archive for numpy.load; bf16 and f8 are stored as float32, with the same values",
                   .write = write_npz};

}  // namespace trainrt::cli::plugins
