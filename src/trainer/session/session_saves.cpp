// The part of the session that takes checkpoints, and waits for them.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/save/directories.hpp"
#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using comm::AgreedError;

trainer::CheckpointCycle::Content Session::content(const Given* reported) const {
  return {.state = reported != nullptr && reported->state ? *reported->state : state_,
          .point = point(),
          .metrics = last_metrics_,
          .metadata = metadata_,
          .given = reported != nullptr ? &reported->files : nullptr,
          .iteration_s = monotonic_seconds() - iteration_at_s_};
}

/// What a checkpoint of the stop takes as the place in the data, if the run stops between here and the next step.
void Session::note_place() {
  datasets_.update_positions();
  stops_.note_point();
  if (attempt_.lease != nullptr) attempt_.meter.note_job_left(attempt_.lease->remaining());
}

void Session::save(const Given* reported) try {
  const trainer::SpeedWatch::InWork at(speeds_, watch::Work::save);
  saves_.start(content(reported));
} catch (const checkpoint::DirectoryFileUnreadable& error) {
  throw AgreedError(error.what(), error.code());
}

void Session::wait_for_checkpoint() {
  const watch::InPhase saving(life_, watch::Phase::checkpoint);
  saves_.finish();
}

void Session::save_at_stop(batch::StopCause cause) {
  if (saves_by_directory_) return wait_for_checkpoint();
  // The last chance to save: a fault that passes within seconds must not cost it.
  for (const int pause_s : {0, 1, 3}) {
    std::this_thread::sleep_for(std::chrono::seconds(pause_s));
    if (!attached_ || loses_nothing()) break;
    auto stopped = content();
    stopped.at_stop = cause != batch::ended_early;
    if (saves_.save_and_wait(stopped)) break;
  }
}

void Session::save_now() {
  throw_if_stopped();
  require_training("save()");
  if (!attached_) throw UsageError("save() comes after restore(), which attaches the State to save");
  const auto outcome = vote_.finish();
  note_place();
  if (saves_by_directory_)
    wait_for_checkpoint();
  else if (!saves_.save_and_wait(content()))
    throw AgreedError(
        fmt::format("save(): the checkpoint of {} could not be written (why stands above). Make room, and start the same "
                    "command again: the run continues from {}",
                    rundir::short_point(progress_.step, progress_.iteration), saves_.newest()));
  obey(outcome, false);
}

}  // namespace trainrt
