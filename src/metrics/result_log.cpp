#include "metrics/result_log.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "core/fault_point.hpp"
#include "core/log.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "metrics/append_file.hpp"
#include "metrics/record_json.hpp"
#include "metrics/recovery.hpp"

namespace trainrt::metrics {

namespace {

std::string path_in(const std::string& run_dir) { return run_dir + "/" + result_log_name; }

std::vector<Record> kept(std::vector<Record> records, std::int64_t keep, const std::string& path) {
  std::vector<Record> history;
  for (auto& record : records) {
    if (record.iteration > keep) continue;
    const auto expected = static_cast<std::int64_t>(history.size()) + 1;
    if (record.iteration != expected)
      throw UsageError("result log " + path + ": the record of iteration " + std::to_string(record.iteration) +
                       " stands where that of " + std::to_string(expected) +
                       " belongs; put a good copy of the file there, or remove the checkpoints after iteration " +
                       std::to_string(expected - 1));
    history.push_back(std::move(record));
  }
  const auto have = static_cast<std::int64_t>(history.size());
  if (have < keep)
    throw UsageError(
        "result log " + path + ": the records of iterations " + std::to_string(have + 1) + " to " + std::to_string(keep) +
        " are missing, but the checkpoint to go on from includes them, and neither metrics.h5 nor " +
        "progress.csv holds them all; put a good copy of the file there, or remove the checkpoints after iteration " +
        std::to_string(have));
  return history;
}

}  // namespace

/// The file has two parts: what is durable, and the lines after it, all of which are in memory too. `io` guards the file,
/// `mutex` the lines that are on their way to it.
class ResultLog::Impl {
 public:
  Impl(io::FencedDirectory run_dir, const std::string& lines) : run_dir_(std::move(run_dir)), durable_(lines.size()) {
    put_in_place(lines);
  }

  void append(const std::string& line) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() + line.size() > most_waiting)
        throw Error("result log " + path() +
                    ": it could not be written for so long that too many records wait; make room " +
                    "there, and start the same command again");
      waiting_ += line;
    }
    const std::unique_lock file(io_, std::try_to_lock);
    if (file) try_to_write();  // else a sync() has it, and takes the line along
  }

  void sync() {
    const std::lock_guard file(io_);
    io::retried_in(run_dir_.path(), [this] { make_durable(); });
    try_to_write();  // what came meanwhile
  }

 private:
  static constexpr std::size_t most_waiting = std::size_t{256} << 20;

  std::string path() const { return path_in(run_dir_.path()); }

  void try_to_write() try {
    if (is_lost_) return;
    write_waiting();
    if (std::exchange(is_behind_, false)) log::warning("the records that were held in memory are in " + path() + " now");
  } catch (const io::StorageError& error) {
    if (!std::exchange(is_behind_, true))
      log::warning(std::string(error.what()) + ". The records are held in memory until they can be written");
  }

  /// After an error half a line may be there: it is cut off before anything else is written.
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

  /// First by the open file; if that is of no use (a server that lost it, say) by a new one.
  void make_durable() {
    if (!is_synced()) write_anew();
    durable_ += recent_.size();
    recent_.clear();
    in_file_ = 0;
  }

  /// False if the open file is of no use.
  bool is_synced() try {
    if (is_lost_) return false;
    write_waiting();
    sync_file();
    return true;
  } catch (const io::StorageError& error) {
    if (!io::is_transient(error.error_number())) throw;
    return false;
  }

  void sync_file() try { file_->sync(); } catch (...) {
    in_file_ = 0;  // after an fsync that fails nobody knows what the disk has
    ends_well_ = false;
    throw;
  }

  void write_anew() {
    is_lost_ = true;  // until it is done: the open file may have lost its name
    const auto there = io::read_file(path());
    if (there.size() < durable_) throw Error("result log " + path() + ": somebody has cut it");
    take_waiting();
    put_in_place(there.substr(0, durable_) + recent_);
    in_file_ = recent_.size();
    ends_well_ = true;
    is_lost_ = false;
  }

  void put_in_place(const std::string& lines) {
    run_dir_.write_temporary(result_log_name, lines);
    AppendFile file(
        run_dir_.temporary_path(result_log_name));  // before it is moved: a newer attempt may put its own in that place
    run_dir_.publish(result_log_name);
    file_.emplace(std::move(file));
  }

  io::FencedDirectory run_dir_;
  std::mutex io_;
  std::optional<AppendFile> file_;
  std::uint64_t durable_;    // bytes of the file
  std::string recent_;       // the lines after those
  std::size_t in_file_ = 0;  // so much of them has been written
  bool ends_well_ = true;    // nothing follows that in the file
  bool is_lost_ = false;     // the open file is of no use: write_anew()
  bool is_behind_ = false;
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
