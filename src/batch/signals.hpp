#pragma once
#include <memory>
#include <string>

namespace trainrt::batch {

/// Installs handlers for SIGUSR1, SIGUSR2, SIGTERM, SIGINT and SIGHUP that request a stop of the run. Must be called at the
/// start of main, and again after MPI_Init, because MPICH handles SIGUSR1 and UCX handles SIGHUP.
/// - The handler stores the number of the first signal. The ranks vote regularly on whether to stop, so the signal of one
///   rank stops all ranks. Later signals have no effect.
/// - A stop signal that is ignored at the first call stays ignored (nohup, background commands of shell scripts).
/// - SIGPIPE is ignored from then on.
void install_stop_signals();

/// Scope guard: the constructor calls install_stop_signals(), and the destructor restores the previous signal handlers.
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

/// Requests a stop of the run as SIGUSR1 does, even if SIGUSR1 is ignored. Thread-safe.
void request_stop();

/// Makes the signal handler print a line on standard error as soon as the first stop signal arrives. Only one rank should
/// call this function, so that the line is printed once.
void acknowledge_stop_signals();
/// Sets the message that the signal handler prints, for a process that does not save at the next step; "" sets the default
/// message. Any thread may call this function.
void set_stop_notice(const std::string& text);

/// Returns the number of the first stop signal that arrived; 0 if no signal has arrived.
int stop_signal();

/// Returns whether the first stop signal was sent by the kernel because the process that started this one died.
bool starter_has_died();

/// Returns the name of the signal with the number `signal`, such as "SIGUSR1".
std::string signal_name(int signal);

/// Clears the stop request, as if no signal had arrived. For tests.
void forget_stop_signal();

}  // namespace trainrt::batch
