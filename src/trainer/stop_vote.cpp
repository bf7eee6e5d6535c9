#include "trainer/stop_vote.hpp"

#include <trainrt/error.hpp>

namespace trainrt::trainer {

StopVote::Outcome StopVote::finish() {
  if (!pending_) return {};
  pending_ = false;
  const auto result = communicator_.finish_maximum("stop vote");
  if (result[2] != -result[3])
    throw Error(
        "the ranks do not make the same calls: some call report() or stop_point() where others call step(). They are "
        "collective: every rank must make the same ones in the same order");
  return {.stop = static_cast<batch::StopCause>(result[0]),
          .checkpoint_wanted = result[1] != 0,
          .saves = {.sealed = -result[4], .concluded = result[5]}};
}

void StopVote::start(const Ballot& ballot, Call call) {
  const auto tag = 4 * calls_++ + static_cast<std::int64_t>(call);
  communicator_.start_maximum(
      {ballot.stop, ballot.checkpoint_wanted ? 1 : 0, tag, -tag, -ballot.saves.sealed, ballot.saves.concluded});
  pending_ = true;
}

StopVote::Outcome StopVote::now(const Ballot& ballot, Call call) {
  start(ballot, call);
  return finish();
}

}  // namespace trainrt::trainer
