#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <trainrt/communicator.hpp>

#include "checkpoint/mirrored_run.hpp"
#include "config/run_spec.hpp"
#include "rundir/records/mirror_status.hpp"

namespace trainrt::trainer {

/// Where the run's copy is: checkpoint.mirror with the run's name. A text that is no URL is a folder. UsageError if it
/// cannot be had.
checkpoint::MirroredRun mirror_of(const config::RunSpec& spec);

/// Copies what the last attempt of a finished run could not copy, up to checkpoint.mirror_wait; says nothing if all is
/// there. Rank 0 copies; collective only in that all throw if the mirror cannot be had.
void mirror_finished_run(const config::RunSpec& spec, Communicator& communicator);

/// Copies committed checkpoints of a run to checkpoint.mirror, one after the other, in a thread of its own, with the run's
/// records beside them: training never waits. A checkpoint that is not begun when the next one comes is skipped. One that
/// cannot be copied is warned of and counted. What was deleted here is deleted there, once a newer one is complete there.
/// One rank has it.
class CheckpointMirror {
 public:
  /// The newest that is in the run directory is copied first, if it is not there yet. `require_newest` throws if a
  /// newer attempt has fenced off this one; it is called in the thread. Without it uploads that killed processes have left
  /// at the store stay there.
  explicit CheckpointMirror(const config::RunSpec& spec, std::function<void()> require_newest = {});
  /// Ends a copy that is under way.
  ~CheckpointMirror();
  CheckpointMirror(const CheckpointMirror&) = delete;

  /// A checkpoint was committed. Never waits.
  void offer(std::int64_t number);
  /// Waits for what was offered and then for the run's records as they are now, so many seconds at most in all; warns if
  /// that is not enough.
  void finish(bool has_ended);

 private:
  void work();
  void copy(std::int64_t number);
  void begin_to_send();
  void abort_unfinished_uploads();
  std::optional<checkpoint::HeldCheckpoint> held_checkpoint(std::int64_t number);
  bool takes_place();
  void put_records();
  void settle();
  bool is_same(std::int64_t number);
  bool has_committed();
  void prune(std::int64_t newest);
  void note_failure(const std::string& why);
  void write_status();

  std::string run_dir_;
  double wait_s_;
  std::function<void()> require_newest_;  // nullptr once unfinished uploads were looked for: of the thread alone
  checkpoint::MirroredRun mirror_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::int64_t> queued_, copying_;
  bool sends_ = false;      // what it is copying was not there
  bool ends_ = false;       // nothing more is offered
  bool gives_up_ = false;   // nothing more is copied
  bool has_ended_ = false;  // the thread has nothing left to do
  rundir::MirrorStatus status_;
  std::set<std::int64_t> known_;  // that were here: of the thread alone
  std::set<std::int64_t> same_;   // that are there as they are here: of the thread alone
  std::int64_t begun_from_ = -1, last_offered_ = -1;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt::trainer
