#pragma once
#include <memory>
#include <string>

namespace trainrt::batch {

/// SIGUSR1, SIGUSR2, SIGTERM, SIGINT and SIGHUP ask for a stop: the handler only sets a flag, which the next vote carries
/// to all ranks; a second signal changes nothing. A stop signal that is ignored at the first call stays ignored (nohup, a
/// background command of a shell script). SIGPIPE does nothing in this process. Call at the top of main, and again after
/// MPI_Init, which takes SIGUSR1 for itself (MPICH), as UCX takes SIGHUP before main.
void install_stop_signals();

/// While it lives the stop signals that the program does not ignore ask for a stop; then the program has those handlers
/// again that it had before.
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

/// Asks for a stop as SIGUSR1 does, also if that is ignored. From any thread.
void request_stop();

/// From now on the first signal is answered at once by a line on standard error. For one rank.
void acknowledge_stop_signals();

/// The first stop signal that came, 0 while there is none.
int stop_signal();

/// "SIGUSR1"
std::string signal_name(int signal);

/// For tests: as if no signal had come.
void forget_stop_signal();

}  // namespace trainrt::batch
