#pragma once
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "launch/launcher.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::trainer {

/// The connection of a program with its own main to the other ranks. It lasts from the program's first run until the
/// process exits, because MPI can be started only once in a process. It is closed when the process calls exit() or returns
/// from main, which all ranks must do.
struct ProcessConnection {
  std::unique_ptr<launch::Launch> launch;
  std::unique_ptr<Communicator> communicator;
  int runs = 0;              ///< number of runs that the process has requested
  std::string default_name;  ///< default name of the first run without a name, or ""; the same on all ranks
};

/// Returns the connection of this process. The first call connects the ranks with the options of `config` and is
/// collective. Throws Error if the ranks cannot be connected; if that fails on some ranks only, the job step is ended.
ProcessConnection& process_connection(const LoadedConfig& config);

}  // namespace trainrt::trainer
