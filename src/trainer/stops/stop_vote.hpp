#pragma once
#include <cstdint>

#include <trainrt/communicator.hpp>

#include "batch/stop_cause.hpp"
#include "checkpoint/save/saver.hpp"

namespace trainrt::trainer {

/// A vote of all ranks, so that all ranks stop and save at the same step. A vote also combines the progress of the
/// checkpoint in flight over the ranks, and detects ranks that make different calls, such as report() and step(). A vote is
/// started at one step and finished at the next step. Its communication overlaps with the computation between these steps.
class StopVote {
 public:
  /// The kind of checkpoint that a rank wants. The outcome of a vote is the highest value of all ranks.
  enum class Wants : std::int64_t {
    nothing,
    checkpoint,
    directory,  ///< a checkpoint with the directory that the rank passes to report()
  };
  struct Outcome {
    batch::StopCause stop = batch::no_stop;  ///< highest stop cause of any rank
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;  ///< combined progress of the checkpoint in flight on all ranks
  };
  /// The ballot of one rank: the values with which the rank votes.
  struct Ballot {
    batch::StopCause stop = batch::no_stop;
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;
  };
  /// The call of the train function in which a rank votes. All ranks must vote in the same call.
  enum class Call : std::int64_t { step = 1, report = 2, stop_point = 3, report_of_first = 4 };

  explicit StopVote(Communicator& communicator) : communicator_(communicator) {}

  /// Waits for the vote that start() began, and returns the outcome. Returns an empty Outcome if no vote was started.
  /// Throws Error if the ranks voted in different calls. Collective.
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
