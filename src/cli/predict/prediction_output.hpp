#pragma once
#include <optional>
#include <string>

#include "cli/files/atomic_file.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "cli/terminal/progress_line.hpp"

namespace trainrt::cli {

/// Rank 0's: the file that predictions become, whole or not at all.
class PredictionOutput {
 public:
  /// UsageError as AtomicFile; also for an ending that no writer has. `table`: all but fields and samples.
  PredictionOutput(std::string path, bool replace, bool quiet, PredictedTable table);

  /// Where the ranks write their rows: into the file itself, or into one beside it that goes again.
  trainer::PredictedRows begin(const std::vector<trainer::PredictedField>& fields, std::uint64_t samples);
  void show(std::uint64_t done, std::uint64_t samples) { progress_.show(done, samples); }
  /// All rows are durable.
  void complete();
  /// "out.csv: 333 samples of [data.test] (label, logits), 12.3 KiB"
  std::string in_words() const;

 private:
  std::string path_;
  const PredictionWriter& writer_;
  PredictedTable table_;
  AtomicFile file_;
  std::optional<AtomicFile> rows_file_;
  trainer::PredictedRows rows_;
  ProgressLine progress_;
};

}  // namespace trainrt::cli
