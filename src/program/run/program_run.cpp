#include "program/run/program_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/mistake.hpp"
#include "program/children/program_failed.hpp"
#include "program/progress/hang_diagnosis.hpp"
#include "program/protocol/fields.hpp"
#include "program/protocol/program_protocol.hpp"
#include "program/protocol/rank_calls.hpp"
#include "program/protocol/rank_exits.hpp"

namespace trainrt::program {

namespace {

using Clock = std::chrono::steady_clock;

/// Serves the program of one rank during one run; see serve_program().
class ProgramRun {
 public:
  explicit ProgramRun(const ProgramRunParts& parts)
      : parts_(parts), ctx_(parts.ctx), options_(parts.options), program_(parts.program) {}

  bool run() {
    constexpr double exit_limit_s = 0.5;
    try {
      if (!all_connect()) return true;
      is_connected_ = true;
      if (options_.on_contact) options_.on_contact(true);
      ProgramProtocol protocol(ctx_, program_.channel(), child(),
                               {.wait_limit_s = options_.contact_timeout_s,
                                .may_close = options_.stage.source.empty(),
                                .look_up = options_.look_up,
                                .begins = parts_.begins},
                               parts_.stacks);
      return protocol.serve(*std::exchange(program_.first, std::nullopt)) == ProgramProtocol::End::of_programs;
    } catch (const ProgramFailed&) {
      throw;  // does not wait, since the caller kills all programs
    } catch (const std::exception&) {
      child().ends_within(exit_limit_s);  // the program may still print a message
      throw;
    } catch (...) {
      stop_program();  // only a stop of the run throws an exception that is not a std::exception
      throw;
    }
  }

 private:
  /// States of one rank's program while the runtime waits for the first messages of the programs of all ranks.
  enum State : std::size_t { running, connected, exited, failed, states };
  static constexpr std::size_t idle = states;           // number of idle programs
  static constexpr std::size_t seen = states + 1;       // 1 if rank 0 found progress
  using Census = std::array<std::int64_t, states + 2>;  // ranks in each state

  /// Waits until the programs of all ranks have sent their first messages (returns true), or have exited without a
  /// message (returns false). All ranks poll together; thus the run can stop even if the programs send nothing.
  bool all_connect() {
    constexpr double max_poll_s = 0.25, signal_delay_s = 0.3;
    std::optional<Clock::time_point> first_message;  // time of the first message of any rank
    for (double poll_s = 0.01;; poll_s = std::min(2 * poll_s, max_poll_s)) {
      if (!program_.first) program_.first = program_.receive(poll_s);
      const auto census = census_with(state());
      if (parts_.progress && census[connected] > 0) refuse_to_observe();
      if (census[seen] > 0) ctx_.observe(parts_.progress->position(), shared_progress(ctx_.communicator(), seen_));
      if (census[failed] > 0) stop_or_fail();
      if (census[idle] > 0 && census[idle] + census[exited] == ctx_.world_size()) fail_as_idle();
      if (census[connected] == ctx_.world_size()) return true;
      if (census[exited] == ctx_.world_size()) return await_stop(signal_delay_s), false;
      if (census[exited] > 0 && census[connected] > 0) refuse_mixture();
      if (census[connected] > 0 && !first_message) first_message = Clock::now();
      if (first_message && !program_.first) require_message_since(*first_message);
      ctx_.stop_point();
    }
  }

  /// Throws Error if this rank's program sends no message within the timeout after `first_message`. Without this limit,
  /// a program that is frozen or trains without the client would block the programs of the other ranks forever.
  void require_message_since(Clock::time_point first_message) const {
    if (std::chrono::duration<double>(Clock::now() - first_message).count() < options_.contact_timeout_s) return;
    throw Error(
        fmt::format("no message from the program of rank {} (train.program, process {}) within {:g} s "
                    "(failure.collective_timeout) after the program of another rank called trainrt.context(); "
                    "the program hangs, or does not use trainrt's client",
                    ctx_.world_rank(), child().pid(), options_.contact_timeout_s));
  }

  State state() {
    if (program_.first) return connected;
    const auto& status = child().exit_status();
    if (!status) return running;
    program_.first = program_.receive(0);  // a message that the program sent before it exited
    if (program_.first) return connected;
    return status->is_good() ? exited : failed;
  }

  Census census_with(State mine) {
    Census census{};
    census[mine] = 1;
    if (mine == running && program_.is_idle()) census[idle] = 1;
    if (parts_.progress_watch) find_progress(mine != running);
    if (seen_) census[seen] = 1;
    ctx_.communicator().all_reduce(census, Op::sum, "states of the programs");
    return census;
  }

  void find_progress(bool has_exited) {
    if (has_exited) static_cast<void>(child().output_tail());  // waits until the output has been read
    const bool gave_up = parts_.progress_watch->has_given_up();
    seen_ = parts_.progress_watch->newest(has_exited);
    if (!gave_up && parts_.progress_watch->has_given_up()) ctx_.end_observation();
  }

  /// Waits `seconds` for a stop of the run. The stop would explain why a program has exited: the batch system may
  /// signal the programs before it signals this process.
  void await_stop(double seconds) {
    constexpr std::chrono::milliseconds pause(100);
    for (auto left = std::chrono::duration<double>(seconds); left.count() > 0; left -= pause) {
      ctx_.stop_point();
      std::this_thread::sleep_for(pause);
    }
  }

  /// Throws the error that names the program that failed first, since other programs may fail as a consequence.
  /// Collective.
  [[noreturn]] void stop_or_fail() {
    constexpr double signal_delay_s = 0.5;  // programs and ranks get signals at about the same time
    constexpr double poll_s = 0.25;
    await_stop(signal_delay_s);
    auto exits = gather_rank_exits(ctx_.communicator(), child());
    int first = first_failed(exits);
    // waits up to 3 s for the other programs, which may fail later in the same way, for example if their imports are slow
    const bool is_kill = first >= 0 && exits[static_cast<std::size_t>(first)].status.is_kill();
    const bool is_permanent = first >= 0 && exits[static_cast<std::size_t>(first)].is_permanent;
    for (double left_s = is_permanent ? 3 : 1; left_s > 0 && !is_kill && !all_failed(exits); left_s -= poll_s) {
      await_stop(poll_s);
      exits = gather_rank_exits(ctx_.communicator(), child());
      first = first_failed(exits);
    }
    throw failure_of(exits, first, share_output(ctx_.communicator(), child(), first));
  }

  /// Diagnoses a hang of all programs, and throws ProgramFailed with the diagnosis. Collective.
  [[noreturn]] void fail_as_idle() {
    throw ProgramFailed(diagnose_hang(ctx_, child(), options_.hang_folder(ctx_.attempt()), program_.quiet_s()).message);
  }

  [[noreturn]] static void refuse_to_observe() {
    throw UsageError(
        "train.program called trainrt.context(), so it reports its progress itself; "
        "program.progress is for programs without trainrt's client. Remove program.progress");
  }

  /// Throws the error for a run in which some programs have exited and others have sent messages. Collective.
  [[noreturn]] void refuse_mixture() {
    RankCall mine{.kind = child().exit_status() ? RankCall::Kind::left : RankCall::Kind::computing, .place = "the program"};
    if (program_.first) mine = {RankCall::Kind::waiting, call_place(*program_.first), ""};
    throw MistakeError(mismatch_in_words(gather_rank_calls(ctx_.communicator(), mine)), mistake_kind::calls_differ);
  }

  /// Stops the program and waits for its end. A program that has sent messages gets a stop message; any other program
  /// gets the stop signal.
  void stop_program() {
    const bool is_signalled = !is_connected_ && !program_.first;
    if (is_signalled)
      child().stop();
    else
      program_.channel().send({{"stop", "the run stops; everything is saved"}});
    bool rest_is_signalled = !is_signalled;
    const auto deadline = Clock::now() + std::chrono::duration<double>(options_.stop_timeout_s);
    while (!child().is_over() && Clock::now() < deadline) {
      if (child().exit_status() && !std::exchange(rest_is_signalled, true)) child().stop_rest();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    report_kills();
  }

  /// Prints which processes have not exited after the stop. The destructor of Child kills them.
  void report_kills() {
    const auto program = fmt::format("the program of rank {} (process {})", ctx_.world_rank(), child().pid());
    if (!child().exit_status())
      fmt::print(stderr, "trainrt: {} did not exit within {:g} s after the stop (train.stop_timeout) and is killed\n",
                 program, options_.stop_timeout_s);
    else if (!child().is_over())
      fmt::print(stderr,
                 "trainrt: {} {}, but processes that it had started are killed, because they did not exit within {:g} s "
                 "after the stop (train.stop_timeout): {}\n",
                 program, child().exit_status()->in_words(), options_.stop_timeout_s, child().survivors_in_words());
    else if (const auto strays = child().strays_in_words(); !strays.empty())
      fmt::print(stderr, "trainrt: {} {}; processes that it had started are still running and are killed: {}\n", program,
                 child().exit_status()->in_words(), strays);
  }

  Child& child() { return program_.child(); }
  const Child& child() const { return program_.child(); }

  const ProgramRunParts& parts_;
  Context& ctx_;
  const ProgramOptions& options_;
  RunningProgram& program_;
  std::optional<ProgressNumbers> seen_;  ///< progress that rank 0 found in the last poll
  bool is_connected_ = false;
};

}  // namespace

bool serve_program(const ProgramRunParts& parts) { return ProgramRun(parts).run(); }

}  // namespace trainrt::program
