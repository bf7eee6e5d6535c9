#include "program/protocol/program_protocol.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/children/failure_output.hpp"
#include "program/children/program_failed.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

// Poll interval while the programs of some ranks compute. Each poll costs the waiting ranks CPU time.
constexpr double min_idle_poll_s = 0.2, max_idle_poll_s = 1, idle_poll_growth = 1.05;
constexpr double min_poll_s = 0.005, max_poll_s = 0.05, poll_growth = 1.1;  // poll interval during a checkpoint

}  // namespace

ProgramProtocol::ProgramProtocol(Context& ctx, Channel& channel, Child& child, ProtocolOptions options, LiveStacks& stacks)
    : ctx_(ctx),
      options_(std::move(options)),
      channel_(channel),
      child_(child),
      stacks_(stacks),
      requests_(ctx, channel, child, stacks, options_, [this] { return request_values(); }),
      inbox_(
          channel, child, stacks,
          {.is_collective = [this](const std::string& op) { return awaits_state_ || ProgramRequests::is_collective(op); },
           .answer = [this](const Message& message) { answer(message); },
           .finish = [this](const Message& message) { requests_.reply(message); }}),
      lockstep_(ctx.communicator(), options_.wait_limit_s) {}

ProgramProtocol::End ProgramProtocol::serve(Message first) {
  inbox_.take(std::move(first));
  while (!requests_.is_closed() && align()) {
    const auto call = inbox_.take_call();
    if (!call.body.contains("left") && !call.body.contains("stage")) stacks_.note_call(call_place(call));
    answer(call);
    has_trained_ = has_trained_ || call.op == "step" || call.op == "report";
  }
  if (requests_.is_closed()) return End::of_run;
  requests_.save_at_end();
  return End::of_programs;
}

/// Waits until the programs of all ranks wait in the same collective call (returns true) or have all exited with
/// success (returns false). Each poll advances a checkpoint that is being written, and the program may wait for this
/// checkpoint. The poll interval is therefore short at first, and grows during a large checkpoint or a long wait.
bool ProgramProtocol::align() {
  double saving_poll_s = min_poll_s, idle_poll_s = min_idle_poll_s;
  for (;; saving_poll_s = std::min(poll_growth * saving_poll_s, max_poll_s)) {
    const bool is_saving = ctx_.is_checkpoint_on_its_way();
    const double poll_s = is_saving ? saving_poll_s : idle_poll_s;
    if (!is_saving) idle_poll_s = std::min(idle_poll_growth * idle_poll_s, max_idle_poll_s);
    const auto state = inbox_.wait(poll_s);
    const auto decision = lockstep_.check(state, ctx_.step_count(), poll_s);
    if (decision == Lockstep::Decision::fail) fail_together();
    if (decision == Lockstep::Decision::proceed) return state.kind == ProgramState::Kind::calling;
    ctx_.advance_checkpoint();  // the program may compute for a long time before its next call
  }
}

/// Waits at most 2 s until no rank's program is computing, if a program has failed before the first step or report. The
/// other programs then often fail with the same error; if all fail, the runtime can conclude that a restart would fail,
/// too. Collective.
void ProgramProtocol::await_other_failures() {
  constexpr double poll_s = 0.1;
  constexpr int max_polls = 20;
  for (int polls = has_trained_ ? max_polls : 0; polls < max_polls; ++polls) {
    const bool computes = inbox_.wait(poll_s).kind == ProgramState::Kind::computing;
    if (ctx_.communicator().all_reduced(computes ? 1 : 0, Op::max) == 0) return;
  }
}

void ProgramProtocol::fail_together() {
  await_other_failures();
  auto& communicator = ctx_.communicator();
  const auto exits = gather_rank_exits(communicator, child_, inbox_.failure());
  const int first = first_failed(exits);
  throw failure_of(exits, first, share_output(communicator, child_, first));
}

void ProgramProtocol::answer(const Message& message) {
  try {
    auto result = requests_.reply(message);
    if (!requests_.is_closed()) channel_.send({{"ok", std::move(result)}});
  } catch (const ProgramFailed&) {
    throw;  // sends no answer; the program is killed and must not act on an answer
  } catch (const Error& error) {
    channel_.send({{"error", error.what()}, {"usage", error.code() == ExitCode::usage}});
    throw;
  }
}

/// Returns the values of the program's State for a checkpoint, after asking the program for them. Collective.
Json ProgramProtocol::request_values() {
  channel_.send({{"save", true}});
  awaits_state_ = true;
  if (!align()) throw Error("train.program: the programs exited during a checkpoint");
  awaits_state_ = false;
  const auto message = inbox_.take_call();
  if (message.op != "state")
    throw UsageError(fmt::format(
        "train.program: after {{\"save\": true}} the program must send the message 'state', but sent '{}'", message.op));
  return field(message.body, "values", Json::value_t::object);
}

}  // namespace trainrt::program
