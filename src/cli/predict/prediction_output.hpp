#pragma once
#include <optional>
#include <string>

#include "cli/files/atomic_file.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "cli/terminal/progress_line.hpp"

namespace trainrt::cli {

/// Writes the output file of `trainrt predict`. The file appears only when it is complete. Only rank 0 has a
/// PredictionOutput; all ranks write their rows to a file that it names.
class PredictionOutput {
 public:
  /// begin() sets the fields and the number of samples of `table`. Throws UsageError if no writer has the extension of
  /// `path`, and the errors of AtomicFile.
  PredictionOutput(std::string path, bool replace, bool quiet, PredictedTable table);

  /// Creates the file for the rows: the output file or, if its format requires other contents, a temporary file next to
  /// it. Returns the path of this file and the offsets of the fields in it.
  trainer::PredictedRows begin(const std::vector<trainer::PredictedField>& fields, std::uint64_t samples);
  void show(std::uint64_t done, std::uint64_t samples) { progress_.show(done, samples); }
  /// Completes the output file. Must be called when the rows of all ranks are durable.
  void complete();
  /// Returns a summary: "out.csv: 333 samples of [data.test] (label, logits), 12.3 KiB".
  std::string summary() const;

 private:
  std::string path_;
  const PredictionWriter& writer_;
  PredictedTable table_;
  AtomicFile file_;
  std::optional<AtomicFile> rows_file_;  ///< the temporary file with the rows, if the writer needs one
  trainer::PredictedRows rows_;
  ProgressLine progress_;
};

}  // namespace trainrt::cli
