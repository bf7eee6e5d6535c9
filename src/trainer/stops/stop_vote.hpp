#pragma once
#include <cstdint>

#include <trainrt/communicator.hpp>

#include "batch/stop_cause.hpp"
#include "checkpoint/save/saver.hpp"

namespace trainrt::trainer {

/// The vote by which all ranks stop and save at the same step, and learn how far the checkpoint in flight is on all ranks.
/// A vote is started at one step and finished at the next, so that its communication overlaps with the computation between.
/// A vote also detects ranks that make different calls, such as report() and step().
class StopVote {
 public:
  /// The checkpoint that a rank wants; the highest value wins.
  enum class Wants : std::int64_t {
    nothing,
    checkpoint,
    directory,  ///< a checkpoint with the directory that the rank passes to report()
  };
  struct Outcome {
    batch::StopCause stop = batch::no_stop;  ///< highest stop cause of any rank
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;  ///< progress of all ranks, combined
  };
  /// The vote of one rank.
  struct Ballot {
    batch::StopCause stop = batch::no_stop;
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;
  };
  /// The call of the train function in which a rank votes; must be the same on all ranks.
  enum class Call : std::int64_t { step = 1, report = 2, stop_point = 3, report_of_first = 4 };

  explicit StopVote(Communicator& communicator) : communicator_(communicator) {}

  /// Waits for the vote that was started, and returns its outcome; an empty outcome if no vote was started. Throws Error if
  /// the ranks voted in different calls. Collective.
  Outcome finish();
  void start(const Ballot& ballot, Call call);
  /// Starts a vote and waits for its outcome. Collective.
  Outcome now(const Ballot& ballot, Call call);

 private:
  Communicator& communicator_;
  bool is_started_ = false;
  std::int64_t calls_ = 0;
};

}  // namespace trainrt::trainer
