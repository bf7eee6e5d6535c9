// Writes HDF5: each tensor is a contiguous dataset, each value a scalar dataset.
#include <map>

#include <trainrt/error.hpp>

#include "cli/checkpoints/exporter.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_placer.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::cli::plugins {

using checkpoint::PieceReader;

namespace {

constexpr std::size_t max_fixed_text_bytes = 60000;  // an object header is limited to 64 KiB

/// Creates a dataset. Returns the offset of its bytes in the file; 0 if it is empty.
std::uint64_t add(io::H5Placer& placer, const std::string& name, hid_t type, const Shape& shape,
                  std::string_view placement) {
  std::uint64_t at = 0;
  const auto bytes = static_cast<std::uint64_t>(element_count(shape));  // only whether it is 0 matters
  const auto dataset = placer.create("/" + name, type, io::h5_space(shape), bytes, at);
  io::h5_write_fixed_text(dataset, "placement", placement);
  return at;
}

std::uint64_t add_value(io::H5Placer& placer, const PieceReader::NamedValue& value) {
  if (value.dtype != "string") return add(placer, value.name, io::h5_type(dtype_from(value.dtype)), {}, "value");
  return add(placer, value.name, io::h5_string_type(bytes_of(value.value).size()), {}, "value");
}

std::vector<std::string> write_h5(const ExportSource& source, AtomicFile& file) {
  const auto meta = source.meta_text();
  std::vector<std::uint64_t> values_at;
  std::map<const PieceReader::Tensor*, std::uint64_t> tensors_at;
  const auto entries = source.tensors().size() + source.values().size();
  const auto memory = io::H5Memory::build(entries, [&](hid_t h5) {
    if (meta.size() <= max_fixed_text_bytes)
      io::h5_write_fixed_text(h5, "checkpoint", meta);
    else  // a text of variable length is stored outside the object header
      io::h5_write_attribute(h5, "checkpoint", std::string_view(meta));
    io::H5Placer placer(h5);
    for (const auto* value : source.values()) values_at.push_back(add_value(placer, *value));
    for (const auto* tensor : source.tensors())
      tensors_at[tensor] = add(placer, tensor->name, io::h5_type(tensor->dtype), tensor->shape, tensor->placement);
  });
  file.reserve(memory.file_bytes());
  file.write(0, memory.front());
  for (std::size_t i = 0; i < values_at.size(); ++i) {
    const auto bytes = bytes_of(source.values()[i]->value);
    file.write(values_at[i], bytes.empty() ? std::string_view("\0", 1) : std::string_view(bytes));
  }
  source.stream([&](const TensorPiece& piece) { file.write(tensors_at.at(&piece.tensor) + piece.first, piece.bytes); });
  return {};
}

}  // namespace

extern const Exporter h5;
const Exporter h5{.name = "h5",
                  .extension = ".h5",
                  .help = "HDF5 (1.8 and newer): a contiguous dataset per tensor, a scalar dataset per value",
                  .write = write_h5};

}  // namespace trainrt::cli::plugins
