#include "trainer/stops/stop_vote.hpp"

#include <trainrt/error.hpp>

namespace trainrt::trainer {

StopVote::Outcome StopVote::finish() {
  if (!is_started_) return {};
  is_started_ = false;
  const auto result = communicator_.finish_maximum("stop vote");
  if (result[2] != -result[3])
    throw Error(
        "the ranks make different calls: some call report() or stop_point() where others call step(), or some call "
        "report() with of_first_rank where others do not. These calls are collective: every rank must make the same calls "
        "in the same order. In Python, pass aggregate=True, Number or ratio() to trainrt.train.report() on all ranks or on "
        "no rank");
  return {.stop = static_cast<batch::StopCause>(result[0]),
          .wants = static_cast<Wants>(result[1]),
          .saves = {.sealed = -result[4], .finished = result[5]}};
}

void StopVote::start(const Ballot& ballot, Call call) {
  const auto tag = 8 * calls_++ + static_cast<std::int64_t>(call);
  communicator_.start_maximum(
      {ballot.stop, static_cast<std::int64_t>(ballot.wants), tag, -tag, -ballot.saves.sealed, ballot.saves.finished});
  is_started_ = true;
}

StopVote::Outcome StopVote::now(const Ballot& ballot, Call call) {
  start(ballot, call);
  return finish();
}

}  // namespace trainrt::trainer
