#pragma once
#include <memory>
#include <string>

namespace trainrt::batch {

/// Installs handlers by which SIGUSR1, SIGUSR2, SIGTERM, SIGINT and SIGHUP request a stop. The handler sets a flag, which
/// the next stop vote carries to all ranks; later signals have no effect. A stop signal that is ignored at the first call
/// stays ignored (nohup, background commands of shell scripts). SIGPIPE is ignored. Call it at the start of main, and again
/// after MPI_Init, because MPICH handles SIGUSR1 and UCX handles SIGHUP.
void install_stop_signals();

/// Installs the handlers of install_stop_signals() while it lives, and then restores the handlers of the program.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

/// Requests a stop as SIGUSR1 does, even if SIGUSR1 is ignored. Any thread may call it.
void request_stop();

/// After this call the handler of the first stop signal prints a line on standard error at once. Only one rank should call
/// it.
void acknowledge_stop_signals();

/// Returns the first stop signal that arrived; 0 before that.
int stop_signal();

/// Returns "SIGUSR1" for SIGUSR1.
std::string signal_name(int signal);

/// Clears the stop request. For tests.
void forget_stop_signal();

}  // namespace trainrt::batch
