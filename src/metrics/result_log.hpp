#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

inline const std::string result_log_name = "result.json";

/// Writes result.json, the authoritative log of the metric records of a run: one line of JSON per report (record_json.hpp).
/// Only rank 0 of the newest attempt may have the log open.
///
/// No record is lost if the storage is full or unavailable: append() keeps lines in memory until they can be written, and
/// later calls write them. All lines that are not durable yet are also kept in memory, because the content of a file is
/// unknown after fsync has failed.
///
/// append() and sync() may be called from different threads; append() does not wait for sync().
class ResultLog {
 public:
  struct Opened;
  /// Opens result.json so that it contains exactly the records of iterations 1 to `keep_iterations`, those that the
  /// restored checkpoint includes.
  /// - Missing records are read from metrics.h5 and progress.csv (recovery.hpp).
  /// - Later records, truncated lines and lines that are no records are dropped.
  /// - The new file is written in the attempt's private directory, made durable, and renamed to result.json. An older
  ///   attempt that still appends then writes to a file that has been removed from the directory.
  /// - `other_run` is the directory of another run if this run continues from a checkpoint of that run. The records are
  ///   then read from that directory.
  ///
  /// Throws UsageError if a record is missing or not in order.
  static Opened open(const io::FencedDirectory& run_dir, std::int64_t keep_iterations, const std::string& other_run = "");

  ResultLog(ResultLog&&) noexcept;
  ~ResultLog();

  /// Appends the line of one record to result.json. Readers of the file can see the line at once; the line is durable after
  /// sync(). If the storage fails, a warning is logged once. Throws Error if more than 256 MiB are waiting to be written.
  void append(const Record& record);
  /// Blocks until all appended records are durable in result.json. Retries while the storage is unavailable
  /// (io/storage_retry.hpp). Throws Error if the file cannot be completed; no checkpoint may be committed after that.
  void sync();

 private:
  class Impl;
  explicit ResultLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ResultLog::Opened {
  ResultLog log;
  std::vector<Record> history;  ///< the metric records of iterations 1 to `keep_iterations`
};

/// Returns the records in the result.json of a run, in the order of the file. Skips truncated lines, because the run may be
/// writing at the same time. Returns an empty list if the file does not exist.
std::vector<Record> read_results(const std::string& run_dir);

/// Returns whether the result.json of a run has exactly one record for each iteration from 1 to `iterations`, in ascending
/// order. ResultLog::open() requires this.
bool holds_records(const std::string& run_dir, std::int64_t iterations);

}  // namespace trainrt::metrics
