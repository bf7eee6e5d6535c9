#include "trainer/stops/stop_vote.hpp"

#include <trainrt/error.hpp>

namespace trainrt::trainer {

StopVote::Outcome StopVote::finish() {
  if (!pending_) return {};
  pending_ = false;
  const auto result = communicator_.finish_maximum("stop vote");
  if (result[2] != -result[3])
    throw Error(
        "the ranks do not make the same calls: some call report() or stop_point() where others call step(), or report() "
        "with of_first_rank where others do not (trainrt.train.report(): with aggregate=True, a Number or a ratio() on "
        "some ranks only). They are collective: every rank must make the same ones in the same order");
  return {.stop = static_cast<batch::StopCause>(result[0]),
          .wants = static_cast<Wants>(result[1]),
          .saves = {.sealed = -result[4], .finished = result[5]}};
}

void StopVote::start(const Ballot& ballot, Call call) {
  const auto tag = 8 * calls_++ + static_cast<std::int64_t>(call);
  communicator_.start_maximum(
      {ballot.stop, static_cast<std::int64_t>(ballot.wants), tag, -tag, -ballot.saves.sealed, ballot.saves.finished});
  pending_ = true;
}

StopVote::Outcome StopVote::now(const Ballot& ballot, Call call) {
  start(ballot, call);
  return finish();
}

}  // namespace trainrt::trainer
