#include "metrics/result_log.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "metrics/append_file.hpp"
#include "metrics/record_json.hpp"
#include "metrics/recovery.hpp"

namespace trainrt::metrics {

namespace {

std::string path_in(const std::string& run_dir) { return run_dir + "/" + result_log_name; }

/// Returns the metric records of iterations 1 to `keep`, without later ones. Throws UsageError if a record is missing or
/// not in order.
std::vector<Record> kept(std::vector<Record> records, std::int64_t keep, const std::string& path) {
  std::vector<Record> history;
  for (auto& record : records) {
    if (record.iteration > keep) continue;
    const auto expected = static_cast<std::int64_t>(history.size()) + 1;
    if (record.iteration != expected)
      throw UsageError("result log " + path + ": found the record of iteration " + std::to_string(record.iteration) +
                       " instead of iteration " + std::to_string(expected) +
                       ". Restore the file from a backup, or remove the checkpoints after iteration " +
                       std::to_string(expected - 1));
    history.push_back(std::move(record));
  }
  const auto have = static_cast<std::int64_t>(history.size());
  if (have < keep)
    throw UsageError("result log " + path + ": the records of iterations " + std::to_string(have + 1) + " to " +
                     std::to_string(keep) + " are missing. The restored checkpoint includes them, and neither metrics.h5 " +
                     "nor progress.csv has all of them. Restore the file from a backup, or remove the checkpoints after " +
                     "iteration " + std::to_string(have));
  return history;
}

}  // namespace

/// Implementation of ResultLog. result.json has two parts: durable lines, and later lines, which are also kept in memory.
/// The mutex `io_` guards the file and the later lines. The mutex `mutex_` guards `waiting_`, the lines that append() has
/// added since the last write.
class ResultLog::Impl {
 public:
  Impl(io::FencedDirectory run_dir, const std::string& lines) : run_dir_(std::move(run_dir)), durable_(lines.size()) {
    replace_file(lines);
  }

  void append(const std::string& line) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() + line.size() > max_waiting_bytes)
        throw Error("result log " + path() +
                    ": the file cannot be written, and more than 256 MiB of records are waiting. " +
                    "Free space there, and run the same command again");
      waiting_ += line;
    }
    const std::unique_lock file(io_, std::try_to_lock);
    if (file) try_to_write();  // otherwise sync() holds the mutex, and also writes this line
  }

  void sync() {
    const std::lock_guard file(io_);
    io::retried_in(run_dir_.path(), [this] { make_durable(); });
    try_to_write();  // writes lines that were appended during sync()
  }

 private:
  static constexpr std::size_t max_waiting_bytes = std::size_t{256} << 20;

  std::string path() const { return path_in(run_dir_.path()); }

  void try_to_write() try {
    if (is_lost_) return;
    write_waiting();
    if (std::exchange(is_behind_, false)) log::warning("the records that were kept in memory were written to " + path());
  } catch (const io::StorageError& error) {
    if (!std::exchange(is_behind_, true))
      log::warning(std::string(error.what()) + ". The records are kept in memory until they can be written");
  }

  /// Writes all lines that are not in result.json yet. First truncates the file if a failed write may have left a part of a
  /// line.
  void write_waiting() {
    take_waiting();
    if (!ends_well_) file_->truncate(durable_ + in_file_);
    ends_well_ = false;
    if (in_file_ < recent_.size()) file_->append(std::string_view(recent_).substr(in_file_));
    in_file_ = recent_.size();
    ends_well_ = true;
  }

  void take_waiting() {
    const std::lock_guard lock(mutex_);
    recent_ += std::exchange(waiting_, {});
  }

  /// Makes all lines of the log durable. If the open file is lost, for example because the file server has lost it,
  /// writes a new file with all lines.
  void make_durable() {
    if (!sync_open_file()) rewrite();
    durable_ += recent_.size();
    recent_.clear();
    in_file_ = 0;
  }

  /// Writes all lines of the log and makes them durable in the open file. Returns false if the open file is lost, and
  /// rethrows all other errors.
  bool sync_open_file() try {
    if (is_lost_) return false;
    write_waiting();
    sync_file();
    return true;
  } catch (const io::StorageError& error) {
    if (!io::is_transient(error.error_number())) throw;
    return false;
  }

  void sync_file() try { file_->sync(); } catch (...) {
    in_file_ = 0;  // the content of the file is unknown after fsync has failed
    ends_well_ = false;
    throw;
  }

  void rewrite() {
    // The open file must not be used again until result.json has been replaced, because it may no longer be the file in
    // the run directory.
    is_lost_ = true;
    const auto old = io::read_file(path());
    if (old.size() < durable_) throw Error("result log " + path() + ": the file was truncated by another process");
    take_waiting();
    replace_file(old.substr(0, durable_) + recent_);
    in_file_ = recent_.size();
    ends_well_ = true;
    is_lost_ = false;
  }

  void replace_file(const std::string& lines) { file_.emplace(AppendFile::replace(run_dir_, result_log_name, lines)); }

  io::FencedDirectory run_dir_;
  std::mutex io_;
  std::optional<AppendFile> file_;
  std::uint64_t durable_;    // number of durable bytes in result.json
  std::string recent_;       // lines of the log after the durable ones; some of them may be in the file
  std::size_t in_file_ = 0;  // number of bytes of `recent_` that were written to the file
  bool ends_well_ = true;    // false if the file may end with a part of a line
  bool is_lost_ = false;     // true if the open file cannot be used any more, so that rewrite() is needed
  bool is_behind_ = false;   // true if a write has failed and a warning was logged
  std::mutex mutex_;
  std::string waiting_;
};

ResultLog::Opened ResultLog::open(const io::FencedDirectory& run_dir, std::int64_t keep_iterations,
                                  const std::string& other_run) {
  const auto& from = other_run.empty() ? run_dir.path() : other_run;
  auto history = kept(with_recovered(read_results(from), keep_iterations, from), keep_iterations, path_in(from));
  std::string lines;
  for (const auto& record : history) lines += to_json(record) + "\n";
  auto impl = io::retried([&] { return std::make_unique<Impl>(run_dir, lines); });
  return {ResultLog(std::move(impl)), std::move(history)};
}

ResultLog::ResultLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResultLog::ResultLog(ResultLog&&) noexcept = default;
ResultLog::~ResultLog() = default;

void ResultLog::append(const Record& record) {
  fault_point("append");
  impl_->append(to_json(record) + "\n");
}

void ResultLog::sync() { impl_->sync(); }

bool holds_records(const std::string& run_dir, std::int64_t iterations) {
  std::int64_t held = 0;
  for (const auto& record : read_results(run_dir)) {
    if (record.iteration > iterations) continue;
    if (record.iteration != held + 1) return false;
    ++held;
  }
  return held >= iterations;
}

std::vector<Record> read_results(const std::string& run_dir) {
  const auto path = path_in(run_dir);
  if (!io::retried([&] { return io::exists(path); })) return {};
  const auto text = io::retried([&] { return io::read_file(path); });
  std::vector<Record> records;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (auto record = from_json(std::string_view(text).substr(at, end - at))) records.push_back(std::move(*record));
    at = end + 1;
  }
  return records;
}

}  // namespace trainrt::metrics
