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

/// Reason for the failure of a program, in addition to its exit status.
struct FailureReport {
  std::string text;          ///< the first line is a complete message; "" if the program has not failed
  double found_at_s = 0;     ///< time of the failure, by monotonic_seconds()
  bool is_reported = false;  ///< the program sent the reason itself before it exited
};

/// Returns the failure that a program reports in a message 'failed'.
FailureReport failure_reported_by(const Message& failed);

/// The end of one rank's program. All ranks determine from these objects which program failed first.
struct RankExit {
  std::string host;
  std::int64_t pid = 0;
  bool has_exited = false;
  ExitStatus status;      ///< valid if `has_exited`
  FailureReport failure;  ///< empty if the program has not failed
  /// Text that identifies the program's error: the exception or, if there is none, the exit code and a hash of the last
  /// lines of output. It is "" if the program has not failed, was ended by a signal, or printed no error.
  std::string cause;
  bool is_permanent = false;  ///< is_permanent() of a failed program
  double age_s = 0;           ///< time since the program exited or failed, measured at the same moment on all ranks
};

/// Returns how the program of each rank exited, in the order of the ranks. Collective.
std::vector<RankExit> gather_rank_exits(Communicator& communicator, Child& child, const FailureReport& failure = {});

/// Returns the rank of the program that failed first and caused the other failures, or -1 if no program has failed. A
/// program that was killed by a signal precedes every other program. Other programs may notice broken connections and
/// fail before the kernel has ended the killed program. SIGABRT does not count as a kill, since a program that has lost
/// a connection may abort. Pure function.
int first_failed(std::span<const RankExit> ranks);

/// Returns whether the programs of all ranks have failed. Pure function.
bool all_failed(std::span<const RankExit> ranks);

/// Returns the text " (the interpreter is '/usr/bin/python3')" for an `exception` about a missing module, which may be
/// installed for another interpreter. Returns "" for other exceptions, and if `executable` is not Python. Pure function.
std::string interpreter_in_words(std::string_view exception, const std::string& executable);

/// Returns, on all ranks, the last output of the program of rank `first`. `child` is the program of this rank. For a
/// missing module, interpreter_in_words() is added to the exception. Collective.
FailureOutput share_output(Communicator& communicator, const Child& child, int first);

/// Returns the error message of a failed attempt: "the program of rank 1 on n2 (train.program, process 7) exited with
/// 1: ValueError: bad batch; the programs of 2 other ranks failed afterwards", and the last lines of the output of rank
/// `first`. Pure function.
std::string failure_in_words(std::span<const RankExit> ranks, int first, const FailureOutput& output);

/// Returns an error with the message of failure_in_words(). The error's code is `usage` if the program of rank `first`
/// exited with 64, since a restart cannot help, and `failed` otherwise. Sets all members of ProgramFailed. Pure function.
ProgramFailed failure_of(std::span<const RankExit> ranks, int first, const FailureOutput& output);

}  // namespace trainrt::program
