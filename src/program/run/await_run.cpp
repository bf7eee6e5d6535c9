#include "program/run/await_run.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/processes.hpp"
#include "program/children/client_use.hpp"
#include "program/protocol/fields.hpp"
#include "program/protocol/rank_calls.hpp"
#include "program/protocol/rank_exits.hpp"

namespace trainrt::program {

namespace {

constexpr double max_silent_with_client_s = 600;
constexpr double max_silent_other_s = 1;  // for programs that cannot use the Python client, and need not send a message

class RunWait {
 public:
  RunWait(RunningProgram& program, Communicator& communicator, const AwaitRunOptions& options)
      : program_(program), communicator_(communicator), options_(options) {}

  AwaitedRun run() {
    using Kind = AwaitedRun::Kind;
    constexpr double max_poll_s = 0.2;
    for (double poll_s = 0.005;; poll_s = std::min(2 * poll_s, max_poll_s)) {
      take_message(poll_s);
      const auto census = census_of_all();
      const auto size = communicator_.size();
      if (census[failed] > 0) return failure_of_program();
      if (census[requests] == size) return requested();
      if (census[uses_run] == size) return used();
      if (census[exited] == size) return {options_.is_between_runs ? Kind::ended : Kind::of_config, {}};
      if (census[requests] > 0 && census[uses_run] + census[exited] > 0) refuse_mixture();
      if (census[stops] > 0 && census[uses_client] + census[requests] > 0) return {Kind::stopped, {}};
      some_wait_ = census[requests] + census[uses_run] > 0 || (options_.is_between_runs && census[exited] > 0);
      if (census[late] > 0) refuse_late(is_missing());
      if (census[idle] > 0 && census[idle] + census[exited] == size) refuse_idle();
      if (census[requests] == 0 && census[stops] + census[needs_run] > 0 && !options_.is_between_runs) return {};
      if (census[exited] > 0 && census[uses_run] > 0) return {};  // the run of the config reports this mistake
    }
  }

 private:
  /// Indices into Counts, which has the number of ranks with a program in each of these states.
  enum Census : std::size_t { requests, uses_run, exited, failed, needs_run, stops, uses_client, late, idle, entries };
  using Counts = std::array<std::int64_t, entries>;

  void take_message(double limit_s) {
    constexpr double exit_limit_s = 0.5;
    if (program_.first) {
      static_cast<void>(program_.child().ends_within(limit_s));  // the program waits for the answer to `first`
      return;
    }
    program_.first = program_.receive(limit_s);
    if (!program_.first) return;
    if (program_.first->op == "failed") {
      failure_ = failure_reported_by(*program_.first);
      program_.child().ends_within(exit_limit_s);  // the program may still print a message
    }
    if (program_.first->op == "failed" || program_.first->op == "done") program_.first.reset();
  }

  Counts census_of_all() {
    Counts census{};
    const auto& status = program_.child().exit_status();
    if (!failure_.text.empty())
      census[failed] = 1;
    else if (program_.first)
      census[program_.first->op == "open_run" ? requests : uses_run] = 1;
    else if (status)
      census[status->is_good() ? exited : failed] = 1;
    if (program_.child().output()->is_full() || monotonic_seconds() - began_s_ > max_silent_s()) census[needs_run] = 1;
    if (options_.is_stop_asked && options_.is_stop_asked()) census[stops] = 1;
    if (program_.uses_client() || options_.is_between_runs) census[uses_client] = 1;
    if (is_late(is_missing())) census[late] = 1;
    if (options_.is_between_runs && is_missing() && program_.is_idle()) census[idle] = 1;
    communicator_.all_reduce(census, Op::sum, "the run that the programs need");
    return census;
  }

  /// Returns the maximum number of seconds to wait for a message of the program. A program that sends none in this time
  /// gets the run of the config. The wait is longer for Python programs that may use the client, because their imports
  /// may take long.
  double max_silent_s() {
    if (program_.uses_client()) return max_silent_with_client_s;
    if (!may_use_client_) search_code();
    return may_use_client_ ? options_.max_silent_s : max_silent_other_s;
  }

  /// Sets may_use_client_ if the code of a Python process of the program may use the client. Reads the code of each process
  /// once.
  void search_code() {
    for (const pid_t process : with_descendants(program_.child().pid()))
      if (is_python(process) && searched_.emplace(process, command_text(process)).second && may_use_client(process))
        may_use_client_ = true;
  }

  bool is_missing() { return !program_.first && !program_.child().exit_status(); }

  AwaitedRun requested() {
    const auto settings = communicator_.broadcast_text(program_.first->body.dump(), 0);
    return {AwaitedRun::Kind::requested, run_request_from(Json::parse(settings))};
  }

  AwaitedRun used() const {
    if (!options_.is_between_runs) return {};
    throw UsageError(
        fmt::format("train.program: the program called {}() after its run was closed. Call it before the run is closed, or "
                    "open another run with fit()",
                    program_.first->op));
  }

  AwaitedRun failure_of_program() {
    if (!options_.is_between_runs) return {AwaitedRun::Kind::failed, {}};
    const auto exits = gather_rank_exits(communicator_, program_.child(), failure_);
    const int first = first_failed(exits);
    throw Error(fmt::format("after the run had finished, {}",
                            failure_in_words(exits, first, share_output(communicator_, program_.child(), first))));
  }

  /// Throws the error of programs that need different runs. Collective.
  [[noreturn]] void refuse_mixture() {
    RankCall mine{.kind = is_missing() ? RankCall::Kind::computing : RankCall::Kind::left, .place = "the program"};
    if (program_.first) mine = {RankCall::Kind::waiting, call_place(*program_.first), ""};
    throw UsageError(mismatch_in_words(gather_rank_calls(communicator_, mine)));
  }

  /// Returns whether the programs of other ranks have waited for this rank's program for longer than
  /// `contact_timeout_s`.
  bool is_late(bool is_missing) {
    if (!some_wait_) return false;
    if (waited_since_s_ == 0) waited_since_s_ = monotonic_seconds();
    return is_missing && monotonic_seconds() - waited_since_s_ > options_.contact_timeout_s;
  }

  /// Throws the error that names the ranks whose programs have sent no message. Collective.
  [[noreturn]] void refuse_late(bool is_missing) {
    const auto mine = is_missing ? fmt::format("that of rank {} on {} (process {})", communicator_.rank(), host_name(),
                                               program_.child().pid())
                                 : std::string();
    std::string missing;
    for (const auto& other : communicator_.all_gather(mine))
      if (!other.empty()) missing += (missing.empty() ? "" : ", ") + other;
    throw Error(
        fmt::format("train.program: while the programs of other ranks called fit() or trainrt.context(), "
                    "or exited, there was no message within {:g} s (failure.collective_timeout) from {}",
                    options_.contact_timeout_s, missing));
  }

  [[noreturn]] void refuse_idle() {
    throw Error(
        fmt::format("train.program: hang between two runs: "
                    "no program has printed anything or used CPU time for {:.0f} s (failure.hang_timeout)",
                    program_.quiet_s()));
  }

  RunningProgram& program_;
  Communicator& communicator_;
  const AwaitRunOptions& options_;
  double began_s_ = monotonic_seconds();
  bool some_wait_ = false;
  double waited_since_s_ = 0;
  FailureReport failure_;
  bool may_use_client_ = false;
  std::set<std::pair<pid_t, std::string>> searched_;  ///< Python processes whose code has been read, with their commands
};

}  // namespace

AwaitedRun await_run(RunningProgram& program, Communicator& communicator, const AwaitRunOptions& options) {
  return RunWait(program, communicator, options).run();
}

}  // namespace trainrt::program
