#pragma once
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "watch/liveness.hpp"

namespace trainrt::watch {

/// Crash reports of a process that receives SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, also after std::terminate with an
/// exception. A handler prints one line on standard error, writes the stack into
/// logs/crash-attempt-000003-rank-00002.txt of the run directory, and writes error.txt if no other rank has written it. The
/// files contain the last lines that the rank has printed; standard error gets them if the terminal has not shown them
/// (OutputCapture). The process then dies of the same signal. Names in the stack are mangled: `c++filt` demangles them.

/// Installs the handlers for the process, with a stack of their own for the calling thread, so that an endless recursion is
/// reported, too. Must be called after everything else that installs handlers: UCX does before main, MPI_Init may.
void install_crash_reports();

/// Paths of the files that report a crash of this rank.
struct CrashFiles {
  std::string report;
  std::string error;        ///< of the run, if no other rank has written it
  std::string error_aside;  ///< temporary name of `error`, in the attempt's private directory
};

/// While this object lives, crash reports are written for this attempt. At most one may exist at a time; if the ranks are
/// threads, the newest is used. It prepares all data that the handlers need.
class CrashScope {
 public:
  /// `life` must outlive this object. `end_step`, if it is not empty, ends the step on all ranks with the exit code that it
  /// gets, for launchers that let the other ranks wait when one dies. A thread that was started beforehand calls it; the
  /// crashed rank dies without it after a few seconds.
  CrashScope(CrashFiles files, int attempt, int rank, const Liveness& life, std::function<void(int)> end_step);
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;

 private:
  std::unique_ptr<struct CrashFacts> facts_;
  std::thread helper_;
};

}  // namespace trainrt::watch
