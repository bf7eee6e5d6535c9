#include "trainer/saving/checkpoint_mirror.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr double stop_waits_s = 5;

bool contains(const std::vector<std::int64_t>& numbers, std::int64_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

}  // namespace

checkpoint::MirroredRun mirror_of(const config::RunSpec& spec) {
  const auto& text = spec.checkpoint.mirror;
  auto url = io::storage_url(text);
  if (!url) url = io::StorageUrl{"file", "", std::filesystem::absolute(text).lexically_normal().string().substr(1)};
  auto prefix = url->name;
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  return {io::open_storage(*url), prefix + spec.run.name + "/"};
}

CheckpointMirror::CheckpointMirror(const config::RunSpec& spec, std::function<void()> require_newest)
    : run_dir_(spec.run_dir),
      wait_s_(spec.checkpoint.mirror_wait_s),
      require_newest_(std::move(require_newest)),
      mirror_(mirror_of(spec)) {
  status_.url = mirror_.url();
  const auto here = checkpoint::numbers_in(run_dir_);
  known_ = {here.begin(), here.end()};
  if (!here.empty()) queued_ = begun_from_ = here.back();
  thread_ = std::thread([this] { work(); });
}

CheckpointMirror::~CheckpointMirror() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = gives_up_ = true;
    queued_.reset();
  }
  mirror_.interrupt();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CheckpointMirror::offer(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (queued_) ++status_.skipped;
  queued_ = last_offered_ = number;
  changed_.notify_all();
}

void CheckpointMirror::finish(bool has_ended) {
  const double limit_s = has_ended ? wait_s_ : std::min(wait_s_, stop_waits_s);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  {
    std::unique_lock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
    changed_.wait_until(lock, until, [&] { return has_ended_ || sends_; });
    if (sends_)
      log::info(fmt::format("waits for the copy of {} at {}", checkpoint::directory_name(queued_ ? *queued_ : *copying_),
                            status_.url));
    if (!changed_.wait_until(lock, until, [&] { return has_ended_; })) {
      const auto number = queued_ || copying_ == status_.newest ? queued_ : copying_;
      const auto what =
          number ? fmt::format("{} is not at {} after {:.0f} s, and is given up there", checkpoint::directory_name(*number),
                               status_.url, limit_s)
                 : fmt::format("the records of the run at {} are not as they are now after {:.0f} s", status_.url, limit_s);
      log::warning(fmt::format("{}; {} in {}", what, number ? "it is" : "they are", run_dir_));
      gives_up_ = true;
      queued_.reset();
      mirror_.interrupt();
    }
  }
  if (thread_.joinable()) thread_.join();
  if (status_.failed > 0) log::warning(fmt::format("mirror: {}", rundir::in_words(status_)));
}

void CheckpointMirror::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return queued_ || ends_; });
    if (!queued_) break;
    copying_ = std::exchange(queued_, std::nullopt);
    const auto number = *copying_;
    lock.unlock();
    try {
      copy(number);
    } catch (const std::exception& error) {
      note_failure(fmt::format("{}: {}", checkpoint::directory_name(number), error.what()));
    }
    write_status();
    lock.lock();
    copying_.reset();
    sends_ = false;
  }
  lock.unlock();
  settle();
  lock.lock();
  has_ended_ = true;
  changed_.notify_all();
}

/// The last thing: the records as they are now, if they belong to a checkpoint that is there.
void CheckpointMirror::settle() try {
  std::int64_t newest = -1;
  {
    const std::lock_guard lock(mutex_);
    if (gives_up_ || status_.newest < last_offered_) return;
    newest = status_.newest;
  }
  if (newest < 0) return;
  put_records();
  prune(newest);  // retention here may have followed the last copy
} catch (const std::exception& error) {
  const std::lock_guard lock(mutex_);
  if (!gives_up_)  // else finish() says it
    log::warning(fmt::format("the copy of the run at {} is not as the run is now: {}", status_.url, error.what()));
}

void CheckpointMirror::copy(std::int64_t number) {
  known_.insert(number);
  const auto held = held_checkpoint(number);  // first: retention may delete it any time
  if (!held) return;
  if (!takes_place()) throw Error("there is another run of that name: choose another folder, or remove what is there");
  const bool is_there = mirror_.holds(*held);
  if (!is_there) {
    begin_to_send();
    put_records();
    abort_unfinished_uploads();
    mirror_.remove(number);  // another one of that number: the run went on from an earlier one than it
    mirror_.put(*held);
  }
  same_.insert(number);
  {
    const std::lock_guard lock(mutex_);
    status_.newest = number;
    if (!is_there) ++status_.copied;
  }
  prune(number);
}

void CheckpointMirror::begin_to_send() {
  const std::lock_guard lock(mutex_);
  sends_ = true;
  changed_.notify_all();  // finish() says what it waits for
}

/// Once, before this attempt sends the first file: what is listed was begun by older attempts, if no newer one has fenced
/// off this one by the time that the list is there. So what another attempt may be sending is never aborted but if that
/// attempt was given up. A store that lists no uploads, or does not allow it, is a line of the log only.
void CheckpointMirror::abort_unfinished_uploads() try {
  const auto require_newest = std::exchange(require_newest_, nullptr);
  if (!require_newest) return;
  const auto uploads = mirror_.unfinished_uploads();
  if (uploads.empty()) return;
  require_newest();
  for (const auto& upload : uploads) mirror_.abort_upload(upload);
  log::info(fmt::format("aborted {} at {} that an earlier attempt left unfinished",
                        counted(static_cast<std::int64_t>(uploads.size()), "upload"), status_.url));
} catch (const std::exception& error) {
  log::info(fmt::format("uploads that earlier attempts left unfinished at {} stay there: {}", status_.url, error.what()));
}

/// Nothing, and counted, if it was deleted before its turn came.
std::optional<checkpoint::HeldCheckpoint> CheckpointMirror::held_checkpoint(std::int64_t number) try {
  return checkpoint::HeldCheckpoint(run_dir_, number);
} catch (const Error&) {
  if (io::exists(run_dir_ + "/" + checkpoint::directory_name(number))) throw;
  const std::lock_guard lock(mutex_);
  ++status_.skipped;
  return std::nullopt;
}

/// False if another run is there. One that nobody can go on from, as it was killed before a checkpoint of it was complete
/// there, is none: its records make room.
bool CheckpointMirror::takes_place() {
  const auto there = mirror_.text_of("run.json");
  if (there.empty()) return true;
  const auto id = rundir::run_record_from(there, mirror_.url() + "run.json").run_id;
  if (id == rundir::read_seen_run_record(run_dir_).run_id) return true;
  if (!mirror_.numbers().complete.empty()) return false;
  log::warning(
      fmt::format("{} has records of another run, and no checkpoint that is complete: they are replaced", mirror_.url()));
  mirror_.remove_records();
  return true;
}

/// Before the manifest of a checkpoint: so a copy that has one has the reports up to it. What is there already is not sent
/// again: most records of attempts never change, and a finished run that is started again has nothing to send.
void CheckpointMirror::put_records() {
  std::vector<std::string> names{"run.json", "params.json", "result.json"};
  for (const int number : rundir::numbers_of_attempts(run_dir_))
    names.push_back(fmt::format("attempts/{}.json", rundir::attempt_name(number)));
  for (const auto& name : names)
    if (io::exists(run_dir_ + "/" + name) && mirror_.text_of(name) != io::read_file(run_dir_ + "/" + name))
      mirror_.put_file(run_dir_, name);
}

/// What is there as it is here stays so. Retention may delete what is here any time: that is another's concern.
bool CheckpointMirror::is_same(std::int64_t number) try {
  if (same_.contains(number)) return true;
  const auto here = io::read_file(run_dir_ + "/" + checkpoint::directory_name(number) + "/" + checkpoint::manifest_name);
  if (mirror_.manifest_of(number) != here) return false;
  same_.insert(number);
  return true;
} catch (const io::StorageError&) {
  if (io::exists(run_dir_ + "/" + checkpoint::directory_name(number))) throw;
  return true;
}

/// In this attempt: so what it has begun from was the newest, whatever an old listing may lack.
bool CheckpointMirror::has_committed() {
  const std::lock_guard lock(mutex_);
  return last_offered_ >= 0;
}

/// Those that were here and are not any more, those that were never finished, and those that the run has left behind, as
/// this attempt went on from an earlier one, whether their numbers are used again or not. None if the directory shows
/// nothing at all.
void CheckpointMirror::prune(std::int64_t newest) {
  const auto there = mirror_.numbers();  // first: what another attempt copies after it is not taken for left behind
  const auto here = checkpoint::numbers_in(run_dir_);
  if (here.empty()) return;
  known_.insert(here.begin(), here.end());
  const bool goes_on = has_committed();
  for (const auto number : there.complete) {
    const bool is_gone = known_.contains(number) ? number < newest : number > begun_from_ && goes_on;
    if (contains(here, number) ? !is_same(number) : is_gone) mirror_.remove(number);
  }
  for (const auto number : there.begun)
    if (number < newest) mirror_.remove(number);
}

void CheckpointMirror::note_failure(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (gives_up_) return;  // finish() says it
    ++status_.failed;
    status_.error = why;
  }
  log::warning(fmt::format("not copied to {}: {}; training goes on", status_.url, why));
}

void CheckpointMirror::write_status() try {
  const std::lock_guard lock(mutex_);
  const bool has_news = status_.copied + status_.skipped + status_.failed > 0;
  const auto before = has_news ? std::nullopt : rundir::read_mirror_status(run_dir_);
  if (before && before->url == status_.url && before->newest == status_.newest && before->failed == 0) return;
  rundir::write_mirror_status(run_dir_, status_);
} catch (const std::exception&) {  // it can be missed
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
