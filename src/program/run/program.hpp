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

/// Options of `train.program`, with which any executable is a train function.
struct ProgramOptions {
  std::vector<std::string> command;       ///< program, found in the PATH, and its arguments
  int stop_signal = 0;                    ///< sent to a program without the client when the run stops
  double stop_timeout_s = 0;              ///< how long a program may take to exit after a stop
  double contact_timeout_s = 0;           ///< how long to wait for the first message after that of another rank
  std::vector<std::string> environments;  ///< frameworks to set variables for; {"all"} for all
  bool hides_gpus = false;                ///< the program must not use GPUs, even if its node has some
  bool own_gpus_only = false;             ///< the program sees the GPUs of its own rank only
  stage::StageOptions stage;              ///< tree to copy to every node before the programs start
  Variables variables;                    ///< environment variables in addition to those of this process
  int max_restarts = 0;                   ///< value of TORCHELASTIC_MAX_RESTARTS; the caller does the counting
  std::string interface;                  ///< network interface of rank 0's node; "" to choose one that all nodes reach
  double hang_timeout_s = 0;              ///< how long all programs without the client may be idle; 0 for no limit
  std::function<std::string(int attempt)> hang_folder;  ///< folder in the run directory for the stacks of a hang
  ShownOutput shown = ShownOutput::first_rank;          ///< output that the terminal shows
  std::function<RequestedRun(const RunRequest&)>
      look_up{};         ///< returns the run that a request would open; called on rank 0
  std::string progress;  ///< ProgressPattern for the output of rank 0's program, which does not use the client; "" to read
                         ///< no progress
};

class ProgramHost;

/// The train function of a program, and access to the programs.
struct ProgramFunction {
  std::function<void(Context&)> train;
  std::function<std::string()> stacks{};  ///< returns the Python stacks of this rank's program, if it uses the client
  std::shared_ptr<ProgramHost> host;      ///< opens the runs that the programs request
};

/// Returns a train function that starts the program on every rank and waits for its end. A program that uses the client
/// (see protocol/README.md; src/python contains a client) calls the Context. Another program runs until it exits, and gets
/// the stop signal if the run stops. The train function throws ProgramFailed if the program of a rank fails. Throws
/// UsageError if the executable or the script of an interpreter does not exist, and for an unknown framework or an invalid
/// `progress`.
ProgramFunction program_function(ProgramOptions options);

}  // namespace trainrt::program
