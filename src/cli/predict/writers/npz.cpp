// Writes NumPy's archive (.npz): an array for each field.
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/files/npz_file.hpp"
#include "cli/predict/prediction_writer.hpp"

namespace trainrt::cli::predictions::plugins {

namespace {

/// Throws UsageError if a field holds texts: NumPy's string arrays need 4 bytes per character, or pickle.
void require_numbers(const PredictedTable& table) {
  for (const auto& field : table.fields)
    if (field.is_text)
      throw UsageError(fmt::format(
          "--keep {}: the field holds texts, and an .npz file takes numbers only. Write .csv or .h5", field.kept_of));
}

void write_predictions_npz(const PredictedTable& table, PredictedValues& values, AtomicFile& file) {
  NpzFile npz(file);
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const auto& field = table.fields[i];
    auto shape = field.sample_shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(table.samples));
    npz.begin(field.name, field.dtype, shape);
    values.stream(i, 0, table.samples, [&](auto piece) { npz.write(piece); });
  }
  npz.finish();
}

}  // namespace

extern const PredictionWriter npz;
const PredictionWriter npz{.name = "npz",
                           .extension = ".npz",
                           .help = "NumPy archive for numpy.load: an array per field; bf16 and f8 are stored as float32",
                           .require = require_numbers,
                           .write = write_predictions_npz};

}  // namespace trainrt::cli::predictions::plugins
