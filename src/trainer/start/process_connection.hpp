#pragma once
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "launch/launcher.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::trainer {

/// The connection of a program with its own main() to the other ranks. The connection lasts from the program's first run
/// until the process exits, since MPI can be started only once in a process. The connection is closed when the process
/// calls exit() or returns from main(), which all ranks must do.
struct ProcessConnection {
  std::unique_ptr<launch::Launch> launch;
  std::unique_ptr<Communicator> communicator;
  int runs = 0;              ///< number of runs that the process has requested
  std::string default_name;  ///< default name of the first run without a name, or ""; equal on all ranks
};

/// Returns the connection of this process. The first call is collective, and connects the ranks with the options of
/// `config`. Throws Error if the launcher cannot be reached. If there are several ranks and a rank cannot connect to the
/// others, the job step is ended.
ProcessConnection& process_connection(const LoadedConfig& config);

}  // namespace trainrt::trainer
