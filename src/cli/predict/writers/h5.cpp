// Writes HDF5 (hdf5_schemas/predictions.json): each field is a contiguous dataset, into which all ranks write.
#include <optional>

#include <trainrt/error.hpp>

#include "cli/predict/prediction_writer.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_placer.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::cli::predictions::plugins {

namespace {

void describe(hid_t h5, const PredictedTable& table) {
  io::h5_write_attribute(h5, "format", std::string_view("trainrt predictions"));
  io::h5_write_attribute(h5, "version", std::int64_t{1});
  io::h5_write_attribute(h5, "checkpoint", std::string_view(table.checkpoint));
  io::h5_write_attribute(h5, "train_function", std::string_view(table.function));
  io::h5_write_attribute(h5, "dataset", std::string_view(table.dataset));
}

std::uint64_t add_field(io::H5Placer& placer, const trainer::PredictedField& field, std::uint64_t samples) {
  auto shape = field.sample_shape;
  shape.insert(shape.begin(), static_cast<std::int64_t>(samples));
  std::optional<io::H5Id> texts;  // of fixed length, so that each rank can compute the offsets of its texts
  if (field.is_text) {
    texts = io::h5_string_type(field.row_bytes());
    shape.resize(1);
  }
  std::uint64_t at = 0;
  const auto dataset = placer.create("/" + field.name, texts ? hid_t{*texts} : io::h5_type(field.dtype),
                                     io::h5_space(shape), samples * field.row_bytes(), at);
  io::h5_write_fixed_text(dataset, "source", field.kept_of.empty() ? "predicted" : "dataset: " + field.kept_of);
  return at;
}

std::vector<std::uint64_t> lay_out_h5(const PredictedTable& table, AtomicFile& file) {
  std::vector<std::uint64_t> offsets;
  const auto memory = io::H5Memory::build(table.fields.size(), [&](hid_t h5) {
    describe(h5, table);
    io::H5Placer placer(h5);
    for (const auto& field : table.fields) offsets.push_back(add_field(placer, field, table.samples));
  });
  file.reserve(memory.file_bytes());
  file.write(0, memory.front());
  return offsets;
}

}  // namespace

extern const PredictionWriter h5;
const PredictionWriter h5{.name = "h5",
                          .extension = ".h5",
                          .help = "HDF5 (1.8 and newer): a dataset per field, written by all ranks in parallel",
                          .lay_out = lay_out_h5};

}  // namespace trainrt::cli::predictions::plugins
