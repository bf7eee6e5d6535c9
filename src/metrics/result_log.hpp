#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

inline const std::string result_log_name = "result.json";

/// result.json of a run: one line of JSON a report (record_json.hpp), the log of record. One process has it open: rank 0 of
/// the newest attempt.
///
/// Storage that is full or away loses no record: append() keeps in memory what it cannot write, and later calls write it.
/// Whatever is not yet durable is kept, for after a failed fsync nobody knows what the disk has.
///
/// append() and sync() may be called in different threads; append() never waits for a sync().
class ResultLog {
 public:
  struct Opened;
  /// Opens the log of the run with exactly the records of iterations 1 to `keep_iterations` in it: what the restored
  /// checkpoint includes. Each must be there once and in order, else UsageError that says which is not; what is missing is
  /// taken from metrics.h5 and progress.csv if they hold it (recovery.hpp). Later, torn and foreign lines are dropped.
  /// The file is written anew in the private directory, made durable, and renamed over result.json: what an older attempt
  /// still appends goes to a file without a name.
  /// `other_run`: a directory whose result.json has those records, if the run goes on from a checkpoint of that one.
  static Opened open(const io::FencedDirectory& run_dir, std::int64_t keep_iterations, const std::string& other_run = "");

  ResultLog(ResultLog&&) noexcept;
  ~ResultLog();

  /// One line, whole or not at all; visible to readers at once if the storage takes it, durable after sync(). If it
  /// does not, this is said once. Throws Error if more than 256 MiB wait.
  void append(const Record& record);
  /// All that has been appended is in the file, durable, in order and without half a line. Tries again while the storage
  /// is away (io/storage_retry.hpp). Throws Error if the file cannot be made complete: then no commit may follow.
  void sync();

 private:
  class Impl;
  explicit ResultLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ResultLog::Opened {
  ResultLog log;
  std::vector<Record> history;  ///< iterations 1 to keep_iterations
};

/// The records in a run's result.json, in the file's order, for those who only look: lines that are torn (a run may be
/// writing just now) are passed over. None if there is no such file.
std::vector<Record> read_results(const std::string& run_dir);

/// Returns whether a run's result.json holds the records of iterations 1 to `iterations`, each once and in order, as
/// ResultLog::open() requires them.
bool holds_records(const std::string& run_dir, std::int64_t iterations);

}  // namespace trainrt::metrics
