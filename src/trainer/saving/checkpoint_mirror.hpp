#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "rundir/records/mirror_status.hpp"
#include "trainer/saving/mirror_writer.hpp"

namespace trainrt::trainer {

/// Copies the committed checkpoints, the records and the artifacts of a run to the run's mirror, in a background thread, so
/// that training never waits. A checkpoint is skipped if its copy has not begun when the next checkpoint is committed. A
/// failed copy causes a warning. If a checkpoint was deleted in the run directory, it is deleted in the mirror after a
/// newer checkpoint is complete in the mirror.
///
/// Only rank 0 has a CheckpointMirror.
class CheckpointMirror {
 public:
  /// Starts the thread. If the mirror lacks the newest checkpoint of the run directory, the thread copies that checkpoint
  /// first. `require_newest` is the parameter of MirrorWriter of this name; the thread calls it.
  explicit CheckpointMirror(const config::RunSpec& spec, std::function<void()> require_newest = {});
  /// Interrupts a running copy.
  ~CheckpointMirror();
  CheckpointMirror(const CheckpointMirror&) = delete;

  /// Requests a copy of the committed checkpoint `number`. Does not block.
  void offer(std::int64_t number);
  /// Waits until the last offered checkpoint and the final records are copied. After checkpoint.mirror_wait seconds, logs a
  /// warning and stops waiting. If `is_finished` is false, the run continues later, and the wait is at most 5 seconds.
  void finish(bool is_finished);

 private:
  void work();
  void copy(std::int64_t number);
  void copy_artifacts();
  void copy_final_records();
  void note_sending();
  void note_failure(const std::string& reason);
  void give_up(double waited_s);
  void write_status();

  std::string run_dir_;
  double wait_s_;
  MirrorWriter writer_;  // used by `thread_` alone, except interrupt()

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::optional<std::int64_t> queued_, copying_;
  std::optional<std::int64_t> last_offered_;
  bool is_sending_ = false;    // files of the checkpoint `copying_` are being sent, since the mirror had no complete copy
  bool is_closed_ = false;     // no more checkpoints are offered
  bool has_given_up_ = false;  // nothing more is copied
  bool is_done_ = false;       // the thread has no more work
  rundir::MirrorStatus status_;

  std::thread thread_;  // last member, since the thread uses the other members
};

/// Copies the last checkpoint and the records of a finished run to the mirror if the run's last attempt did not complete
/// these copies. Rank 0 copies, for at most checkpoint.mirror_wait seconds. Collective. Throws AgreedError if the mirror
/// cannot be opened.
void mirror_finished_run(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
