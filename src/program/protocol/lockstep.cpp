#include "program/protocol/lockstep.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/mistake.hpp"

namespace trainrt::program {

namespace {

constexpr double message_interval_s = 0.75;
constexpr double max_counted_s = 2;  // maximum time that a check counts; a longer time means that this process was stopped

/// Indices into the array that all ranks reduce to its element-wise maximum. The array describes the states of the
/// programs.
enum Census : std::size_t { some_compute, some_wait, some_failed, some_exited, some_call, call, other_call, entries };

/// Returns the name of the program's call, or "" for an exited program. The ranks proceed only if this name is equal on all
/// of them.
std::string tag_of(const ProgramState& state) { return state.kind == ProgramState::Kind::exited ? "" : state.op; }

}  // namespace

Lockstep::Decision Lockstep::check(const ProgramState& mine, std::int64_t step, double poll_s) {
  using Kind = ProgramState::Kind;
  const bool is_computing = mine.kind == Kind::computing;
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(tag_of(mine)));
  std::array<std::int64_t, entries> census{};
  census[some_compute] = is_computing ? 1 : 0;
  census[some_wait] = is_computing ? 0 : 1;
  census[some_failed] = mine.kind == Kind::failed ? 1 : 0;
  census[some_exited] = mine.kind == Kind::exited ? 1 : 0;
  census[some_call] = mine.kind == Kind::calling ? 1 : 0;
  census[call] = hash;
  census[other_call] = ~hash;  // the maximum of ~hash over the ranks is ~(the minimum of hash)
  communicator_.all_reduce(census, Op::max, "states of the programs");
  if (census[some_failed] != 0) return Decision::fail;
  // After a program has exited, no collective call can complete, even if the computing programs make the call later.
  if (census[some_exited] != 0 && census[some_call] != 0)
    throw MistakeError(mismatch_in_words(gather_rank_calls(communicator_, mine.call)), mistake_kind::calls_differ);
  if (census[some_compute] != 0) {
    if (census[some_wait] != 0) note_wait(mine, step, poll_s);
    return Decision::wait;
  }
  if (census[call] != ~census[other_call])
    throw MistakeError(mismatch_in_words(gather_rank_calls(communicator_, mine.call)), mistake_kind::calls_differ);
  elapsed_s_ = since_message_s_ = waited_s_ = 0;
  note_.clear();
  return Decision::proceed;
}

/// Counts the time that programs wait for others, and throws Error after `limit_s`. All ranks pass an equal `poll_s`, and
/// therefore exchange the names of the missing ranks in the same check.
void Lockstep::note_wait(const ProgramState& mine, std::int64_t step, double poll_s) {
  const double now = monotonic_seconds();
  const double since_last = elapsed_s_ == 0 ? 0 : std::min(now - last_check_s_, max_counted_s);
  last_check_s_ = now;
  elapsed_s_ += poll_s;
  since_message_s_ += poll_s;
  std::string missing;
  if (since_message_s_ >= message_interval_s) {
    missing = missing_in_words(gather_rank_calls(communicator_, mine.call));
    since_message_s_ = 0;
  }
  if (mine.kind == ProgramState::Kind::computing) return;
  waited_s_ += since_last;
  if (missing.empty()) return;
  const auto place = mine.kind == ProgramState::Kind::exited ? "the end of its program" : mine.call.place;
  note_.report(fmt::format("{} at step {}, for {}", place, step, missing));
  if (waited_s_ > limit_s_)
    throw Error(fmt::format("rank {} has waited {:g} s (failure.collective_timeout) in {} for {}", communicator_.rank(),
                            limit_s_, place, missing));
}

}  // namespace trainrt::program
