#include "program/run/opening.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/processes.hpp"
#include "program/protocol/arrivals.hpp"
#include "program/protocol/endings.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

constexpr double most_with_client_s = 600;
constexpr double most_of_others_s = 1;

class Wait {
 public:
  Wait(RunningProgram& program, Communicator& communicator, const OpeningRules& rules)
      : program_(program), communicator_(communicator), rules_(rules) {}

  Opening run() {
    constexpr double most_look_s = 0.2;
    for (double look_s = 0.005;; look_s = std::min(2 * look_s, most_look_s)) {
      take_message(look_s);
      const auto census = census_of_all();
      const auto size = communicator_.size();
      if (census[fell] > 0) return fallen();
      if (census[asks] == size) return asked();
      if (census[speaks] == size) return spoken();
      if (census[ended] == size) return {rules_.is_between_runs ? Opening::Kind::ended : Opening::Kind::needs, {}};
      if (census[asks] > 0 && census[speaks] + census[ended] > 0) refuse_mixture();
      if (census[stops] > 0 && census[uses_client] + census[asks] > 0) return {Opening::Kind::stops, {}};
      some_wait_ = census[asks] + census[speaks] > 0 || (rules_.is_between_runs && census[ended] > 0);
      if (census[late] > 0) refuse_late(is_missing());
      if (census[idle] > 0 && census[idle] + census[ended] == size) refuse_idle();
      if (census[asks] == 0 && census[stops] + census[presses] > 0 && !rules_.is_between_runs) return {};
      if (census[ended] > 0 && census[speaks] > 0) return {};  // the run's own errors say what is wrong
    }
  }

 private:
  /// Of each: how many ranks'.
  enum Standing : std::size_t { asks, speaks, ended, fell, presses, stops, uses_client, late, idle, standings };
  using Census = std::array<std::int64_t, standings>;

  void take_message(double limit_s) {
    if (program_.first) {
      static_cast<void>(program_.child().ends_within(limit_s));  // it waits for an answer
      return;
    }
    program_.first = program_.receive(limit_s);
    if (!program_.first) return;
    if (program_.first->op == "failed") {
      fault_ = told_by(*program_.first);
      program_.child().ends_within(0.5);  // it may have something to say
    }
    if (program_.first->op == "failed" || program_.first->op == "done") program_.first.reset();
  }

  Census census_of_all() {
    Census census{};
    const auto& ending = program_.child().ending();
    if (!fault_.text.empty())
      census[fell] = 1;
    else if (program_.first)
      census[program_.first->op == "open_run" ? asks : speaks] = 1;
    else if (ending)
      census[ending->is_good() ? ended : fell] = 1;
    if (program_.child().output()->is_full() || monotonic_seconds() - began_s_ > patience_s()) census[presses] = 1;
    if (rules_.is_stop_asked && rules_.is_stop_asked()) census[stops] = 1;
    if (program_.uses_client() || rules_.is_between_runs) census[uses_client] = 1;
    if (is_late(is_missing())) census[late] = 1;
    if (rules_.is_between_runs && is_missing() && program_.is_idle()) census[idle] = 1;
    communicator_.all_reduce(census, Op::sum, "which run the programs open");
    return census;
  }

  /// Who imports much may take long before it speaks.
  double patience_s() {
    if (program_.uses_client()) return most_with_client_s;
    is_python_ = is_python_ || std::ranges::any_of(with_descendants(program_.child().pid()), is_python);
    return is_python_ ? rules_.most_silent_s : most_of_others_s;
  }

  bool is_missing() { return !program_.first && !program_.child().ending(); }

  Opening asked() {
    const auto settings = communicator_.broadcast_text(program_.first->body.dump(), 0);
    return {Opening::Kind::asks, run_request_from(Json::parse(settings))};
  }

  Opening spoken() const {
    if (!rules_.is_between_runs) return {};
    throw UsageError(fmt::format("train.program: the program calls {}() after its run was closed: only fit() opens another",
                                 program_.first->op));
  }

  Opening fallen() {
    if (!rules_.is_between_runs) return {Opening::Kind::fell, {}};
    const auto endings = gather_endings(communicator_, program_.child(), fault_);
    const int first = first_to_fall(endings);
    throw Error(fmt::format("after its run had finished, {}",
                            fall_in_words(endings, first, share_output(communicator_, program_.child(), first))));
  }

  /// On all ranks together.
  [[noreturn]] void refuse_mixture() {
    Arrival mine{.kind = is_missing() ? Arrival::Kind::computes : Arrival::Kind::left, .place = "the program"};
    if (program_.first) mine = {Arrival::Kind::calls, call_place(*program_.first), ""};
    throw UsageError(difference_in_words(gather_arrivals(communicator_, mine)));
  }

  /// Programs of other ranks have come to their next run, or to their end: this rank's has not, for too long.
  bool is_late(bool is_missing) {
    if (!some_wait_) return false;
    if (waited_since_s_ == 0) waited_since_s_ = monotonic_seconds();
    return is_missing && monotonic_seconds() - waited_since_s_ > rules_.contact_timeout_s;
  }

  /// On all ranks together.
  [[noreturn]] void refuse_late(bool is_missing) {
    const auto mine = is_missing ? fmt::format("that of rank {} on {} (process {})", communicator_.rank(), host_name(),
                                               program_.child().pid())
                                 : std::string();
    std::string missing;
    for (const auto& other : communicator_.all_gather(mine))
      if (!other.empty()) missing += (missing.empty() ? "" : ", ") + other;
    throw Error(fmt::format(
        "train.program: {} has said nothing for {:g} s (failure.collective_timeout), while the programs of other "
        "ranks have called fit() or trainrt.context(), or ended: it hangs, or does something else",
        missing, rules_.contact_timeout_s));
  }

  [[noreturn]] void refuse_idle() {
    throw Error(fmt::format(
        "train.program: between two runs the programs of all ranks have neither printed nor computed for {:.0f} s "
        "(failure.hang_timeout): they hang",
        program_.quiet_s()));
  }

  RunningProgram& program_;
  Communicator& communicator_;
  const OpeningRules& rules_;
  double began_s_ = monotonic_seconds();
  bool some_wait_ = false;
  double waited_since_s_ = 0;
  Fault fault_;
  bool is_python_ = false;
};

}  // namespace

Opening await_opening(RunningProgram& program, Communicator& communicator, const OpeningRules& rules) {
  return Wait(program, communicator, rules).run();
}

}  // namespace trainrt::program
