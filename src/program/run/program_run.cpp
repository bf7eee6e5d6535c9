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
#include "program/children/idle_programs.hpp"
#include "program/children/program_fell.hpp"
#include "program/protocol/arrivals.hpp"
#include "program/protocol/conversation.hpp"
#include "program/protocol/endings.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

using Clock = std::chrono::steady_clock;

/// The program of one rank during one run.
class ProgramRun {
 public:
  explicit ProgramRun(const ProgramRunParts& parts)
      : parts_(parts), ctx_(parts.ctx), options_(parts.options), program_(parts.program) {}

  bool run() {
    try {
      if (!all_connect()) return true;
      is_connected_ = true;
      Conversation conversation(ctx_, program_.channel(), child(),
                                {.wait_limit_s = options_.contact_timeout_s,
                                 .may_close = options_.stage.source.empty(),
                                 .look_up = options_.look_up,
                                 .begins = parts_.begins},
                                parts_.stacks);
      return conversation.hold(*std::exchange(program_.first, std::nullopt)) == Conversation::End::of_programs;
    } catch (const ProgramFell&) {
      throw;  // at once: the others are killed
    } catch (const std::exception&) {
      child().ends_within(0.5);  // it may have something to say
      throw;
    } catch (...) {
      let_end();  // the run stops
      throw;
    }
  }

 private:
  /// How the programs of all ranks stand, before all are connected: how many of each.
  enum Standing : std::size_t { running, connected, ended, failed, standings };
  static constexpr std::size_t idle = standings;      // how many of those that run
  static constexpr std::size_t seen = standings + 1;  // whether rank 0's has shown progress
  using Census = std::array<std::int64_t, standings + 2>;

  /// Waits until the programs of all ranks have sent their first message, or have ended without one (false). The ranks go
  /// on together, look by look, so that a run whose programs send nothing can stop too.
  bool all_connect() {
    constexpr double most_s = 0.25;
    std::optional<Clock::time_point> first_message;  // when, of any of them
    for (double look_s = 0.01;; look_s = std::min(2 * look_s, most_s)) {
      if (!program_.first) program_.first = program_.receive(look_s);
      const auto census = census_with(standing());
      if (parts_.progress && census[connected] > 0) refuse_to_observe();
      if (census[seen] > 0) ctx_.observe(parts_.progress->position(), shared_progress(ctx_.communicator(), seen_));
      if (census[failed] > 0) stop_or_fail();
      if (census[idle] > 0 && census[idle] + census[ended] == ctx_.world_size()) fail_as_idle();
      if (census[connected] == ctx_.world_size()) return true;
      if (census[ended] == ctx_.world_size()) return look_for_stop(0.3), false;
      if (census[ended] > 0 && census[connected] > 0) refuse_mixture();
      if (census[connected] > 0 && !first_message) first_message = Clock::now();
      if (first_message && !program_.first) require_message_since(*first_message);
      ctx_.stop_point();
    }
  }

  /// One that is frozen, or trains without the client, would hold the others for ever.
  void require_message_since(Clock::time_point first_message) const {
    if (std::chrono::duration<double>(Clock::now() - first_message).count() < options_.contact_timeout_s) return;
    throw Error(
        fmt::format("the program of rank {} (train.program, process {}) has said nothing for {:g} s "
                    "(failure.collective_timeout), while those of other ranks have called trainrt.context(): it hangs, or "
                    "does not use trainrt's client",
                    ctx_.world_rank(), child().pid(), options_.contact_timeout_s));
  }

  Standing standing() {
    if (program_.first) return connected;
    const auto& ending = child().ending();
    if (!ending) return running;
    program_.first = program_.receive(0);  // its last words
    if (program_.first) return connected;
    return ending->is_good() ? ended : failed;
  }

  Census census_with(Standing mine) {
    Census census{};
    census[mine] = 1;
    if (mine == running && program_.is_idle()) census[idle] = 1;
    if (parts_.progress_watch) look_for_progress(mine != running);
    if (seen_) census[seen] = 1;
    ctx_.communicator().all_reduce(census, Op::sum, "how the programs stand");
    return census;
  }

  void look_for_progress(bool has_ended) {
    if (has_ended) static_cast<void>(child().output_tail());  // all of it has been read then
    const bool gave_up = parts_.progress_watch->has_given_up();
    seen_ = parts_.progress_watch->newest(has_ended);
    if (!gave_up && parts_.progress_watch->has_given_up()) ctx_.end_observation();
  }

  /// The batch system signals programs too, and may have done so before this process heard of it: then the end of a program
  /// that is not connected, a good or a bad one, is the answer to a stop.
  void look_for_stop(double seconds) {
    constexpr std::chrono::milliseconds pause(100);
    for (auto left = std::chrono::duration<double>(seconds); left.count() > 0; left -= pause) {
      ctx_.stop_point();
      std::this_thread::sleep_for(pause);
    }
  }

  /// Of all ranks together: when one program falls others fall with it, and the run's error is to name the first.
  [[noreturn]] void stop_or_fail() {
    constexpr double signal_comes_within_s = 0.5;  // the program's and the rank's are sent at the same moment
    look_for_stop(signal_comes_within_s);
    const auto endings = gather_endings(ctx_.communicator(), child());
    const int first = first_to_fall(endings);
    throw fall_of(endings, first, share_output(ctx_.communicator(), child(), first));
  }

  /// Of all ranks together: they wait for each other, or for something that does not come.
  [[noreturn]] void fail_as_idle() {
    throw ProgramFell(examine_idle(ctx_, child(), options_.hang_folder(ctx_.attempt()), program_.quiet_s()).text);
  }

  [[noreturn]] static void refuse_to_observe() {
    throw UsageError(
        "program.progress is for programs without trainrt's client, and train.program has called trainrt.context(): it "
        "reports by itself. Leave program.progress out");
  }

  /// On all ranks together.
  [[noreturn]] void refuse_mixture() {
    Arrival mine{.kind = child().ending() ? Arrival::Kind::left : Arrival::Kind::computes, .place = "the program"};
    if (program_.first) mine = {Arrival::Kind::calls, call_place(*program_.first), ""};
    throw Error(difference_in_words(gather_arrivals(ctx_.communicator(), mine)));
  }

  /// A program that is connected gets a message that the run stops; another gets the signal.
  void let_end() {
    const bool is_signalled = !is_connected_ && !program_.first;
    if (is_signalled)
      child().stop();
    else
      program_.channel().send({{"stop", "the run stops here, and everything is saved"}});
    bool rest_is_signalled = !is_signalled;
    const auto deadline = Clock::now() + std::chrono::duration<double>(options_.stop_timeout_s);
    while (!child().is_over() && Clock::now() < deadline) {
      if (child().ending() && !std::exchange(rest_is_signalled, true)) child().stop_rest();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    say_what_is_killed();
  }

  /// After a stop: what the end of `child` kills.
  void say_what_is_killed() {
    const auto program = fmt::format("the program of rank {} (process {})", ctx_.world_rank(), child().pid());
    if (!child().ending())
      fmt::print(stderr, "trainrt: {} did not end within {:g} s after the stop (train.stop_timeout): killed\n", program,
                 options_.stop_timeout_s);
    else if (!child().is_over())
      fmt::print(stderr,
                 "trainrt: {} {}, but processes that it had started did not end within {:g} s after the stop "
                 "(train.stop_timeout), and are killed: {}\n",
                 program, child().ending()->in_words(), options_.stop_timeout_s, child().survivors_in_words());
    else if (const auto strays = child().strays_in_words(); !strays.empty())
      fmt::print(stderr, "trainrt: {} {}; processes that it had started outlived it, and are killed: {}\n", program,
                 child().ending()->in_words(), strays);
  }

  Child& child() { return program_.child(); }
  const Child& child() const { return program_.child(); }

  const ProgramRunParts& parts_;
  Context& ctx_;
  const ProgramOptions& options_;
  RunningProgram& program_;
  std::optional<SeenNumbers> seen_;  ///< by rank 0, at the last look
  bool is_connected_ = false;
};

}  // namespace

bool serve_program(const ProgramRunParts& parts) { return ProgramRun(parts).run(); }

}  // namespace trainrt::program
