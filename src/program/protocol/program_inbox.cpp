#include "program/protocol/program_inbox.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/host.hpp"
#include "program/children/failure_output.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

ProgramState ProgramInbox::wait(double limit_s) {
  using Kind = ProgramState::Kind;
  constexpr double exit_poll_s = 0.01;
  const double end_s = monotonic_seconds() + limit_s;
  for (;;) {
    const double left_s = end_s - monotonic_seconds();
    const double receive_s = is_done_ || !channel_.is_open() ? std::min(left_s, exit_poll_s) : left_s;
    if (!call_ && !has_exited())
      if (auto message = channel_.receive(std::max(0.0, receive_s))) take(std::move(*message));
    check_exit();
    if (!failure_.text.empty()) return {Kind::failed, ""};
    if (call_) return {Kind::calling, call_->op, position_of_call()};
    if (has_exited()) return {Kind::exited, "", {RankCall::Kind::left, left_, stacks_.last_call()}};
    if (left_s <= 0) return {Kind::computing, "", {RankCall::Kind::computing, "", stacks_.last_call()}};
  }
}

/// Returns the position of the program, which waits in a collective call. If the Python package itself has made the
/// call after the train function returned, the message names the train function in "left".
RankCall ProgramInbox::position_of_call() const {
  const auto left = text_field(call_->body, "left", "");
  if (!left.empty()) return {RankCall::Kind::left, left, stacks_.last_call()};
  return {RankCall::Kind::waiting, call_place(*call_), stacks_.last_call()};
}

void ProgramInbox::take(Message message) {
  constexpr double exit_limit_s = 0.5;
  if (message.op == "failed") {
    failure_ = failure_reported_by(message);
    child_.ends_within(exit_limit_s);  // the program may still print the end of a traceback
  } else if (message.op == "done") {
    handlers_.finish(message);
    is_done_ = true;
    left_ = text_field(message.body, "left", left_);
  } else if (message.op == "imported") {
    return;
  } else if (handlers_.is_collective(message.op)) {
    if (!call_) call_ = std::move(message);  // only a program that has exited sends a second call; it needs no answer
  } else {
    handlers_.answer(message);
  }
}

/// Returns whether the program has exited, after handling all its remaining messages.
bool ProgramInbox::has_exited() {
  if (!child_.is_over()) return false;
  stacks_.disable();  // the kernel may assign the program's pid to another process
  while (auto last = channel_.receive(0)) take(std::move(*last));
  return true;
}

/// Sets `failure_` if the program has exited without success. The exit code alone does not show this: it belongs to the
/// command of train.program, and the command may be a script or pipeline that contains the program.
void ProgramInbox::check_exit() {
  if (!has_exited() || !failure_.text.empty()) return;  // a message 'failed' has set `failure_` before
  const auto& status = *child_.exit_status();
  if (is_done_ && child_.ended_by_stop_signal()) return;
  const double exited_at_s = monotonic_seconds() - child_.exit_age_s();
  if (!status.is_good())
    failure_ = {exit_in_words(status, failure_output(child_.output_tail())), exited_at_s};
  else if (!is_done_ && child_.client() != 0 && child_.client() != child_.pid())
    failure_ = {
        fmt::format(
            "ended without notifying trainrt: process {} was killed or called os._exit(), but the command of train.program "
            "that contains it exited with 0 (in a pipeline of bash, 'set -o pipefail' passes the exit code on)",
            child_.client()),
        exited_at_s};
}

}  // namespace trainrt::program
