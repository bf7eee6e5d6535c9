#pragma once
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "launch/launcher.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::trainer {

/// The rank that a program with its own main is, from its first run on to the end of the process: MPI can be started once
/// only. It leaves the others when the process ends by exit() or by returning from main; by then they do so too.
struct ProcessRank {
  std::unique_ptr<launch::Launch> launch;
  std::unique_ptr<Communicator> communicator;
  int runs = 0;              ///< that the process has asked for
  std::string made_up_name;  ///< for the first of them that had none; "": all had one. The same on all ranks
};

/// Finds the others in the first call, as this config says. Collective then. Throws Error if they cannot be found; ends the
/// step if only some can.
ProcessRank& process_rank(const Prepared& prepared);

}  // namespace trainrt::trainer
