#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/context.hpp>

#include "core/output/output_targets.hpp"
#include "program/protocol/run_request.hpp"
#include "program/staging/stage.hpp"

namespace trainrt::program {

/// [train] program: any executable as a train function.
struct ProgramOptions {
  std::vector<std::string> command;       ///< the program, found on the PATH, and its words
  int stop_signal = 0;                    ///< for a program that says nothing, when the run stops
  double stop_timeout_s = 0;              ///< that a program may take to end after a stop
  double contact_timeout_s = 0;           ///< until its first message, after the first of another rank
  std::vector<std::string> environments;  ///< the frameworks whose variables it gets; {"all"}: all of them
  bool hides_gpus = false;                ///< it is to train without GPUs, also if its node has some
  bool own_gpus_only = false;             ///< it sees its rank's GPUs, not those of its node's other ranks
  stage::StageOptions stage;              ///< a tree that every node has before the programs start
  Variables variables;                    ///< that it gets besides those of this process
  int max_restarts = 0;                   ///< that TORCHELASTIC_MAX_RESTARTS says; whoever calls the function counts
  std::string interface;                  ///< of the first rank's node, where the programs meet; "": any that is reached
  double hang_timeout_s = 0;              ///< that all programs may be idle, if they say nothing; 0: any time
  std::function<std::string(int attempt)> hang_folder;       ///< in the run directory, for their stacks then
  ShownOutput shown = ShownOutput::first_rank;               ///< on the terminal, of the programs' output
  std::function<RequestedRun(const RunRequest&)> look_up{};  ///< what a request would open; on rank 0. Throws
  std::string progress;  ///< ProgressPattern of programs without the client, in rank 0's output; "": none
};

class ProgramHost;

/// What stands behind [train] program.
struct ProgramFunction {
  std::function<void(Context&)> train;
  std::function<std::string()> stacks{};  ///< Python stacks of this rank's program, if it uses the client; any thread
  std::shared_ptr<ProgramHost> host;      ///< opens runs that the programs ask for
};

/// A train function that starts the program on every rank and waits for it. A program that speaks (protocol in
/// conversation.hpp; src/python is a client) steps, reports and restores through the Context; one that says
/// nothing runs until it ends, and gets the stop signal if the run stops. ProgramFell if the program of a rank falls.
/// UsageError if there is no such executable, or an interpreter's script is not there, for a framework that there is not,
/// or for a wrong `progress`.
ProgramFunction program_function(ProgramOptions options);

}  // namespace trainrt::program
