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

/// Copies the committed checkpoints and the records of a run to its mirror, in a background thread, so that training never
/// waits. A checkpoint is skipped if its copy has not begun when the next one is committed. A failed copy causes a warning.
/// Checkpoints that are deleted in the run directory are deleted in the mirror once a newer one is complete there.
///
/// Only rank 0 has a CheckpointMirror.
class CheckpointMirror {
 public:
  /// Starts the thread, which first copies the newest checkpoint of the run directory if the mirror lacks it.
  /// `require_newest`: as for MirrorWriter; called on the thread.
  explicit CheckpointMirror(const config::RunSpec& spec, std::function<void()> require_newest = {});
  /// Interrupts a running copy.
  ~CheckpointMirror();
  CheckpointMirror(const CheckpointMirror&) = delete;

  /// Requests the copy of checkpoint `number`, which was committed. Does not block.
  void offer(std::int64_t number);
  /// Waits until the last offered checkpoint and the final records are copied. Gives up, with a warning, after
  /// checkpoint.mirror_wait seconds, or after at most 5 seconds if the run continues later (`is_finished` is false).
  void finish(bool is_finished);

 private:
  void work();
  void copy(std::int64_t number);
  void copy_final_records();
  void note_sending();
  void note_failure(const std::string& reason);
  void give_up(double waited_s);
  void write_status();

  std::string run_dir_;
  double wait_s_;
  MirrorWriter writer_;  // used by the thread alone, except interrupt()

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::optional<std::int64_t> queued_, copying_;
  std::optional<std::int64_t> last_offered_;
  bool is_sending_ = false;    // the checkpoint in copying_ was not complete in the mirror
  bool is_closed_ = false;     // no more checkpoints are offered
  bool has_given_up_ = false;  // nothing more is copied
  bool is_done_ = false;       // the thread has no more work
  rundir::MirrorStatus status_;

  std::thread thread_;  // last member, since it uses the others
};

/// Copies the last checkpoint and the records of a finished run if its last attempt could not, for at most
/// checkpoint.mirror_wait seconds. Rank 0 copies. Collective; throws AgreedError if the mirror cannot be opened.
void mirror_finished_run(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
