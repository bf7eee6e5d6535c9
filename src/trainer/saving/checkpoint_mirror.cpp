#include "trainer/saving/checkpoint_mirror.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr double max_wait_at_stop_s = 5;

}  // namespace

CheckpointMirror::CheckpointMirror(const config::RunSpec& spec, std::function<void()> require_newest)
    : run_dir_(spec.run_dir),
      wait_s_(spec.checkpoint.mirror_wait_s),
      writer_(spec, std::move(require_newest)),
      queued_(writer_.initial_checkpoint()) {
  status_.url = writer_.url();
  thread_ = std::thread([this] { work(); });
}

CheckpointMirror::~CheckpointMirror() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = has_given_up_ = true;
    queued_.reset();
  }
  writer_.interrupt();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CheckpointMirror::offer(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (queued_) ++status_.skipped;
  queued_ = last_offered_ = number;
  changed_.notify_all();
}

void CheckpointMirror::finish(bool is_finished) {
  const double limit_s = is_finished ? wait_s_ : std::min(wait_s_, max_wait_at_stop_s);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    changed_.wait_until(lock, until, [&] { return is_done_ || is_sending_; });
    if (is_sending_)
      log::info(fmt::format("waiting until {} is copied to {}", checkpoint::directory_name(queued_ ? *queued_ : *copying_),
                            status_.url));
    if (!changed_.wait_until(lock, until, [&] { return is_done_; })) give_up(limit_s);
  }
  if (thread_.joinable()) thread_.join();
  if (status_.failed > 0) log::warning(fmt::format("mirror: {}", rundir::in_words(status_)));
}

/// Interrupts the thread, and logs a warning with the copies that are missing. The caller must hold the mutex.
void CheckpointMirror::give_up(double waited_s) {
  const bool is_copied = copying_ && *copying_ == status_.newest;
  const auto missing = queued_ || is_copied ? queued_ : copying_;
  if (missing)
    log::warning(fmt::format("{} could not be copied to {} within {:.0f} s; the copy was given up. The checkpoint is in {}",
                             checkpoint::directory_name(*missing), status_.url, waited_s, run_dir_));
  else
    log::warning(fmt::format(
        "the records of the run could not be copied to {} within {:.0f} s. The records and the artifacts are in {}",
        status_.url, waited_s, run_dir_));
  has_given_up_ = true;
  queued_.reset();
  writer_.interrupt();
}

// --- the thread -------------------------------------------------------------------------------------------------------

void CheckpointMirror::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return queued_ || is_closed_; });
    if (!queued_) break;
    copying_ = std::exchange(queued_, std::nullopt);
    const auto number = *copying_;
    lock.unlock();
    try {
      copy(number);
    } catch (const std::exception& error) {
      note_failure(fmt::format("{}: {}", checkpoint::directory_name(number), error.what()));
    }
    copy_artifacts();
    write_status();
    lock.lock();
    copying_.reset();
    is_sending_ = false;
  }
  lock.unlock();
  copy_final_records();
  lock.lock();
  is_done_ = true;
  changed_.notify_all();
}

void CheckpointMirror::copy(std::int64_t number) {
  const auto result = writer_.copy(number, [this] { note_sending(); });
  bool has_committed = false;
  {
    const std::lock_guard lock(mutex_);
    if (result == MirrorWriter::Copy::deleted) {
      ++status_.skipped;
      return;
    }
    status_.newest = number;
    if (result == MirrorWriter::Copy::sent) ++status_.copied;
    has_committed = last_offered_.has_value();
  }
  writer_.prune(number, has_committed);
}

void CheckpointMirror::note_sending() {
  const std::lock_guard lock(mutex_);
  is_sending_ = true;
  changed_.notify_all();
}

/// Copies the artifacts that are new or have changed. If that fails, logs a warning; the next call tries again.
void CheckpointMirror::copy_artifacts() try { writer_.copy_artifacts(); } catch (const std::exception& error) {
  const std::lock_guard lock(mutex_);
  if (!has_given_up_)
    log::warning(fmt::format("artifacts could not be copied to {}: {}; training continues", status_.url, error.what()));
}

/// Copies the final records of the attempt to the mirror, unless the mirror lacks the last offered checkpoint.
void CheckpointMirror::copy_final_records() try {
  std::int64_t newest = -1;
  bool has_committed = false;
  {
    const std::lock_guard lock(mutex_);
    if (has_given_up_ || status_.newest < last_offered_.value_or(-1)) return;
    newest = status_.newest;
    has_committed = last_offered_.has_value();
  }
  if (newest < 0 && !writer_.has_artifacts()) return;
  copy_artifacts();
  writer_.copy_records();
  if (newest >= 0) writer_.prune(newest, has_committed);  // checkpoints may have been deleted after the last copy
} catch (const std::exception& error) {
  const std::lock_guard lock(mutex_);
  if (!has_given_up_)  // otherwise give_up() has logged a warning
    log::warning(fmt::format("the mirror {} could not be updated: {}", status_.url, error.what()));
}

void CheckpointMirror::note_failure(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (has_given_up_) return;  // give_up() has logged a warning
    ++status_.failed;
    status_.error = reason;
  }
  log::warning(fmt::format("could not copy to {}: {}; training continues", status_.url, reason));
}

/// Writes mirror.json of the run directory. Writes nothing if this attempt has copied nothing and the file already has an
/// equal status. Errors are ignored, since the file is only informative.
void CheckpointMirror::write_status() try {
  const std::lock_guard lock(mutex_);
  const bool has_news = status_.copied + status_.skipped + status_.failed > 0;
  const auto before = has_news ? std::nullopt : rundir::read_mirror_status(run_dir_);
  if (before && before->url == status_.url && before->newest == status_.newest && before->failed == 0) return;
  rundir::write_mirror_status(run_dir_, status_);
} catch (const std::exception&) {
}

void mirror_finished_run(const config::RunSpec& spec, Communicator& communicator) {
  if (spec.checkpoint.mirror.empty()) return;
  std::unique_ptr<CheckpointMirror> mirror;
  const RankZero first(communicator.rank());
  comm::collectively(
      communicator, [&] { first.run([&] { mirror = std::make_unique<CheckpointMirror>(spec); }); }, with_advice);
  if (mirror) mirror->finish(true);
}

}  // namespace trainrt::trainer
