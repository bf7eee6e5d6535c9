// Work of a Saver in the background, after a commit: writes combined views (state.h5) and deletes old checkpoints.
#include <algorithm>
#include <mutex>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/save/commit.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"

namespace trainrt::checkpoint {

/// Writes the combined view of a checkpoint that was just committed, then deletes old checkpoints. Reports errors as
/// warnings. commit_mutex_ must be locked.
void Saver::follow_up(const Commit& work) {
  options_.known.insert(work.meta.number);
  may_retain_ = true;
  try {
    add_view(work, options_.writer.observer);
    write_missing_views();
  } catch (const std::exception& error) {
    options_.writer.warn("cannot write the combined view of a checkpoint (state.h5); trainrt will try again later: " +
                         options_.writer.explain(error));
    missing_views_.add(work.paths.final);
  }
  retain_best();
}

void Saver::retain_best() {
  try {
    if (options_.retention && may_retain_)
      retain(options_.run_dir, options_.private_dir, *options_.retention, options_.known, damaged_,
             options_.writer.observer);
  } catch (const std::exception& error) {
    options_.writer.warn("cannot delete an old checkpoint: " + options_.writer.explain(error));
  }
}

void Saver::write_missing_views() {
  for (const auto& line : missing_views_.write_all()) options_.writer.warn(line);
}

/// Submits a background task that writes missing combined views and deletes old checkpoints. Also useful without a new
/// commit: a validation that was completed since the last commit can have made a checkpoint deletable.
void Saver::repeat_follow_up_in_background() {
  writer_.workers().submit([this] {
    const std::lock_guard one_at_a_time(commit_mutex_);
    if (!missing_views_.are_all_written()) write_missing_views();
    retain_best();
  });
}

void Saver::drain() {
  constexpr double limit_s = 30;
  if (!options_.makes_private_dir) rank_zero_.run([this] { repeat_follow_up_in_background(); });
  if (writer_.workers().drain_within(std::min(limit_s, options_.writer.stuck_s))) return;
  options_.writer.warn(
      "waiting for the storage to write the combined view of the last checkpoint or to delete old checkpoints");
  if (!writer_.workers().drain_within(options_.writer.stuck_s))
    throw SaveStalled(
        "the work after the commit of a checkpoint (writing state.h5, deleting old checkpoints) makes no progress: the "
        "storage does not respond. The checkpoint itself is complete. Run the same command again when the storage works",
        options_.writer.stuck_s);
}

}  // namespace trainrt::checkpoint
