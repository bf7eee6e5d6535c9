#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

inline const std::string result_log_name = "result.json";

/// Writes result.json, the authoritative log of a run: one line of JSON per report (record_json.hpp). Only rank 0 of the
/// newest attempt may have it open.
///
/// No record is lost if the storage is full or unavailable: append() keeps in memory what it cannot write, and later calls
/// write it. All lines that are not durable yet are kept in memory, because the content of a file is unknown after fsync
/// has failed.
///
/// append() and sync() may be called from different threads; append() does not wait for sync().
class ResultLog {
 public:
  struct Opened;
  /// Opens the log with exactly the records of iterations 1 to `keep_iterations`, those that the restored checkpoint
  /// includes. Missing records are read from metrics.h5 and progress.csv (recovery.hpp). Later, torn and foreign lines are
  /// dropped. The file is written in the private directory, made durable, and renamed to result.json; an older attempt that
  /// still appends then writes to a file without a name. `other_run` is the directory of another run if this run continues
  /// from its checkpoint; the records are then read there. Throws UsageError if a record is missing or not in order.
  static Opened open(const io::FencedDirectory& run_dir, std::int64_t keep_iterations, const std::string& other_run = "");

  ResultLog(ResultLog&&) noexcept;
  ~ResultLog();

  /// Appends one complete line, which readers can see at once, and which is durable after sync(). If the storage fails, a
  /// warning is logged once. Throws Error if more than 256 MiB are waiting to be written.
  void append(const Record& record);
  /// Blocks until all appended records are durable in the file. Retries while the storage is unavailable
  /// (io/storage_retry.hpp). Throws Error if the file cannot be completed; then no checkpoint may be committed.
  void sync();

 private:
  class Impl;
  explicit ResultLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ResultLog::Opened {
  ResultLog log;
  std::vector<Record> history;  ///< iterations 1 to `keep_iterations`
};

/// Returns the records in the result.json of a run, in the order of the file. Torn lines are skipped, because the run may
/// be writing at the moment. Returns an empty list if the file does not exist.
std::vector<Record> read_results(const std::string& run_dir);

/// Returns whether a run's result.json holds the records of iterations 1 to `iterations`, each once and in order, as
/// ResultLog::open() requires.
bool holds_records(const std::string& run_dir, std::int64_t iterations);

}  // namespace trainrt::metrics
