#pragma once
#include <cstdint>

#include <trainrt/communicator.hpp>

#include "batch/stop_cause.hpp"
#include "checkpoint/save/saver.hpp"

namespace trainrt::trainer {

/// The vote by which all ranks stop, and save, at the same step, and learn how far everybody's checkpoint is. It starts at
/// one step and is waited for and obeyed at the next, so that it overlaps with the step between. It also finds ranks that
/// do not do the same: one that reports while others step.
class StopVote {
 public:
  /// What ranks want to be saved; the greatest counts.
  enum class Wants : std::int64_t {
    nothing,
    checkpoint,
    directory,  ///< that a rank gives with its report
  };
  struct Outcome {
    batch::StopCause stop = batch::no_stop;  ///< the weightiest cause that any rank has
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;  ///< sealed by all ranks; finished by rank 0
  };
  /// What one rank has to say.
  struct Ballot {
    batch::StopCause stop = batch::no_stop;
    Wants wants = Wants::nothing;
    checkpoint::Saver::Progress saves;
  };
  enum class Call : std::int64_t { step = 1, report = 2, stop_point = 3, report_of_first = 4 };

  explicit StopVote(Communicator& communicator) : communicator_(communicator) {}

  /// Waits for the vote that the last step started; nothing if there is none.
  Outcome finish();
  void start(const Ballot& ballot, Call call);
  /// Both at once, if the ranks meet anyway.
  Outcome now(const Ballot& ballot, Call call);

 private:
  Communicator& communicator_;
  bool pending_ = false;
  std::int64_t calls_ = 0;
};

}  // namespace trainrt::trainer
