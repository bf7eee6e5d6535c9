#pragma once
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "watch/liveness.hpp"

namespace trainrt::watch {

/// What a process says that is about to die of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT (of std::terminate, too, with its
/// exception): one line on standard error, logs/crash-attempt-000003-rank-00002.txt in the run directory with the stack,
/// and error.txt if no other rank has written it. The files have the last lines that the rank has printed, and standard
/// error if the terminal has not shown them (OwnOutput). Then it dies of that signal, as it would have.
///
/// Names in the stack are as the linker knows them: `c++filt` shows them as people write them.

/// Takes over those signals for the process, on the calling thread with a stack of their own, so that an endless recursion
/// is reported too. Last of all that installs handlers: UCX does so before main, MPI_Init may.
void install_crash_reports();

/// Where a crash of this rank is reported; paths.
struct CrashFiles {
  std::string report;
  std::string error;        ///< of the run, if no other rank has written it
  std::string error_aside;  ///< where that is written first, in the attempt's private directory
};

/// From now on, while it lives, a crash belongs to this attempt. One at a time; if the ranks are threads the last one
/// counts. The handlers need nothing but what is prepared here.
class CrashPlace {
 public:
  /// `life` must outlive it. `end_step`, if there is one, ends the step everywhere with the exit code that it gets: for
  /// launchers that let the other ranks wait when one dies. A thread made beforehand calls it, and the crashed rank dies by
  /// itself if that takes more than a few seconds.
  CrashPlace(CrashFiles files, int attempt, int rank, const Liveness& life, std::function<void(int)> end_step);
  ~CrashPlace();
  CrashPlace(const CrashPlace&) = delete;
  CrashPlace& operator=(const CrashPlace&) = delete;

 private:
  std::unique_ptr<struct CrashFacts> facts_;
  std::thread helper_;
};

}  // namespace trainrt::watch
