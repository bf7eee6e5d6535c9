#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "program/children/child.hpp"
#include "program/children/failure_output.hpp"
#include "program/children/program_failed.hpp"
#include "program/protocol/channel.hpp"

namespace trainrt::program {

/// Why a program failed, if its exit status does not show it.
struct FailureReport {
  std::string text;          ///< the first line is complete by itself; "" if there is no failure
  double found_at_s = 0;     ///< by monotonic_seconds()
  bool is_reported = false;  ///< the program sent the report itself before it exited
};

/// Returns the report in a message 'failed'.
FailureReport failure_reported_by(const Message& failed);

/// How the program of one rank ended, from which all ranks determine the program that failed first.
struct RankExit {
  std::string host;
  std::int64_t pid = 0;
  bool has_exited = false;
  ExitStatus status;      ///< valid if it has exited
  FailureReport failure;  ///< reported by the program, or found by the runtime
  double age_s = 0;       ///< time since it exited or failed, measured at the same moment on all ranks
};

/// Returns the exits of all ranks, by rank. Collective.
std::vector<RankExit> gather_rank_exits(Communicator& communicator, Child& child, const FailureReport& failure = {});

/// Returns the rank of the program that failed first and caused the other failures; -1 if no program has failed. A program
/// that a signal killed precedes all others, because other programs may notice the broken connections before the kernel has
/// ended it. SIGABRT does not count as a kill: a program that has lost its peers may raise it itself. Pure.
int first_failed(std::span<const RankExit> ranks);

/// Returns the output of rank `first` on all ranks. `child` is the program of this rank. Collective.
FailureOutput share_output(Communicator& communicator, const Child& child, int first);

/// Returns "the program of rank 1 on n2 (process 7) exited with 1: ValueError: bad batch; those of 2 other ranks ended
/// after it", and the last lines of its output. Pure.
std::string failure_in_words(std::span<const RankExit> ranks, int first, const FailureOutput& output);

/// Returns the error with the text of failure_in_words(). Its code is `usage` if the program of rank `first` exited with
/// 64, because a restart cannot help then, else `failed`. Pure.
ProgramFailed failure_of(std::span<const RankExit> ranks, int first, const FailureOutput& output);

}  // namespace trainrt::program
