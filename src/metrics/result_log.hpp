#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/append_file.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

/// result.json of a run: one line of JSON a report (record_json.hpp), the log of record. One process has it open: rank 0 of
/// the newest attempt.
class ResultLog {
 public:
  struct Opened;
  /// Opens the log of the run with exactly the records of iterations 1 to `keep_iterations` in it: what the restored
  /// checkpoint includes. Each must be there once and in order, else UsageError that says which is not. Later, torn and
  /// foreign lines are dropped. The file is written anew under a temporary name, made durable, and renamed over
  /// result.json: what an older attempt still appends goes to a file without a name.
  static Opened open(const std::string& run_dir, std::int64_t keep_iterations);

  /// One line, whole or, with an Error, not at all; visible to readers at once, durable after sync().
  void append(const Record& record);
  void sync();

 private:
  explicit ResultLog(AppendFile file) : file_(std::move(file)) {}
  AppendFile file_;
};

struct ResultLog::Opened {
  ResultLog log;
  std::vector<Record> history;  ///< iterations 1 to keep_iterations
};

/// The records in a run's result.json, in the file's order, for those who only look: lines that are torn (a run may be
/// writing just now) are passed over. None where there is no such file.
std::vector<Record> read_results(const std::string& run_dir);

}  // namespace trainrt::metrics
