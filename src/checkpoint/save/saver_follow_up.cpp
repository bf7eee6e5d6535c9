// The part of the saver that nobody waits for: whole views, and deletions of old checkpoints.
#include <algorithm>
#include <mutex>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/save/commit.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"

namespace trainrt::checkpoint {

/// What nobody has to wait for. Called with commit_mutex_.
void Saver::follow_up(const Commit& work) {
  options_.known.insert(work.meta.number);
  may_retain_ = true;
  try {
    add_view(work, options_.writer.observer);
    settle_views();
  } catch (const std::exception& error) {
    options_.writer.say("the whole view of a checkpoint is missing, and is written again later: " +
                        options_.writer.explain(error));
    owed_views_.owe(work.paths.final);
  }
  retain_best();
}

void Saver::retain_best() {
  try {
    if (options_.retention && may_retain_)
      retain(options_.run_dir, options_.private_dir, *options_.retention, options_.known, damaged_,
             options_.writer.observer);
  } catch (const std::exception& error) {
    options_.writer.say("an old checkpoint stays: " + options_.writer.explain(error));
  }
}

void Saver::settle_views() {
  for (const auto& line : owed_views_.settle()) options_.writer.say(line);
}

void Saver::settle_views_in_background() {
  writer_.workers().submit([this] {
    const std::lock_guard one_at_a_time(commit_mutex_);
    if (!owed_views_.is_settled()) settle_views();
  });
}

/// A validation that has ended since the last commit may let some go.
void Saver::retain_in_background() {
  writer_.workers().submit([this] {
    const std::lock_guard one_at_a_time(commit_mutex_);
    retain_best();
  });
}

void Saver::drain() {
  constexpr double limit_s = 30;
  if (!options_.makes_private_dir)
    rank_zero_.run([this] {
      settle_views_in_background();
      retain_in_background();
    });
  if (writer_.workers().drain_within(std::min(limit_s, options_.writer.stuck_s))) return;
  options_.writer.say(
      "waiting for the storage: the whole view of the last checkpoint, or deletions of old ones, take long");
  if (!writer_.workers().drain_within(options_.writer.stuck_s))
    throw SaveStalled(
        "what follows a checkpoint's commit (state.h5, deletions of old ones) has come to a halt: the storage does "
        "not answer. The checkpoint itself is whole; start the same command again when the storage is well",
        options_.writer.stuck_s);
}

}  // namespace trainrt::checkpoint
