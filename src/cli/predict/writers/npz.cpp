// NumPy's archive: each field an array.
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/files/npy_array.hpp"
#include "cli/files/zip_file.hpp"
#include "cli/predict/prediction_writer.hpp"

namespace trainrt::cli::predictions::plugins {

namespace {

/// NumPy's own arrays of texts have 4 bytes a character, or need pickle.
void require_npz(const PredictedTable& table) {
  for (const auto& field : table.fields)
    if (field.is_text)
      throw UsageError(
          fmt::format("--keep {}: a .npz is made of numbers, and this is a text: write .csv or .h5", field.kept_of));
}

void write_predictions_npz(const PredictedTable& table, PredictedValues& values, NewFile& file) {
  ZipFile zip(file);
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const auto& field = table.fields[i];
    auto shape = field.sample_shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(table.samples));
    const auto head = npy_header(npy_description(field.dtype), shape);
    const auto wider = is_widened(field.dtype) ? sizeof(float) / size_of(field.dtype) : 1;
    zip.begin(field.name + ".npy", head.size() + table.samples * field.row_bytes() * wider);
    zip.write(std::as_bytes(std::span(head)));
    values.stream(i, 0, table.samples, [&](auto piece) {
      if (!is_widened(field.dtype)) return zip.write(piece);
      const auto floats = widened(field.dtype, piece);
      zip.write(std::as_bytes(std::span(floats)));
    });
  }
  zip.finish();
}

}  // namespace

extern const PredictionWriter npz;
const PredictionWriter npz{.name = "npz",
                           .extension = ".npz",
                           .help = "numpy.load reads it: each field an array; bf16 and f8 as float32",
                           .require = require_npz,
                           .write = write_predictions_npz};

}  // namespace trainrt::cli::predictions::plugins
