#pragma once
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "watch/liveness.hpp"

namespace trainrt::watch {

/// Crash reports: a handler runs if the process receives SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, also after
/// std::terminate with an exception. The handler
/// - prints one line on standard error,
/// - writes the stack into logs/crash-attempt-000003-rank-00002.txt of the run directory,
/// - writes error.txt of the run, if no other rank has written it.
///
/// The files contain the last lines that the rank has printed. If the terminal has not shown these lines (OutputCapture),
/// they are printed on standard error, too. Then the process dies of the same signal. Function names in the stack are
/// mangled: `c++filt` demangles them.

/// Installs the crash handlers for the process, and an alternate signal stack for the calling thread, so that a stack
/// overflow is reported, too. Must be called after everything else that installs signal handlers: UCX does so before
/// main(), and MPI_Init() may.
void install_crash_reports();

/// Paths of the files that report a crash of this rank.
struct CrashFiles {
  std::string report;
  std::string error;        ///< error.txt of the run; written if no other rank has written it
  std::string error_aside;  ///< temporary path of the error file, in the attempt's private directory
};

/// While this object lives, crash reports are written for one attempt of a run. The constructor prepares all data that the
/// signal handlers need. At most one object may exist at a time; if the ranks are threads of one process, the newest object
/// is used.
class CrashScope {
 public:
  /// `life` must outlive this object.
  ///
  /// `end_step(code)` ends the job step on all ranks with exit code `code`. It is needed only under launchers that let the
  /// other ranks wait when one rank dies; otherwise it is empty. After a crash, a thread of this object calls it. If the
  /// call does not return within a few seconds, the crashed rank dies anyway.
  CrashScope(CrashFiles files, int attempt, int rank, const Liveness& life, std::function<void(int)> end_step);
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;

 private:
  std::unique_ptr<struct CrashFacts> facts_;
  std::thread helper_;
};

}  // namespace trainrt::watch
