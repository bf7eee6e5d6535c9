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

/// Options of `train.program`, a config key with which any executable becomes a train function.
struct ProgramOptions {
  std::vector<std::string> command;       ///< program, found in the PATH, and its arguments
  int stop_signal = 0;                    ///< signal for a program without the client when the run stops
  double stop_timeout_s = 0;              ///< maximum time that a program may take to exit after a stop
  double contact_timeout_s = 0;           ///< maximum time between the first messages of two ranks' programs
  std::vector<std::string> environments;  ///< frameworks for which variables are set; {"all"} for all
  bool hides_gpus = false;                ///< the program must not use the GPUs of its node
  bool own_gpus_only = false;             ///< the program sees only the GPUs of its own rank
  stage::StageOptions stage;              ///< tree to copy to every node before the programs start
  Variables variables;                    ///< environment variables to add to those of this process
  int max_restarts = 0;                   ///< value of TORCHELASTIC_MAX_RESTARTS; the caller counts the restarts
  std::string interface;                  ///< network interface of rank 0's node; "" selects one that all nodes reach
  double hang_timeout_s = 0;              ///< maximum time that all programs may be idle; 0 for no limit
  std::function<std::string(int attempt)> hang_folder;  ///< folder in the run directory for the stacks of a hang
  ShownOutput shown = ShownOutput::first_rank;          ///< programs whose output the terminal shows
  std::function<RequestedRun(const RunRequest&)>
      look_up{};  ///< returns the run that a request would open; called on rank 0
  /// Function that is called when a program is started (false), and when it has connected through trainrt's client
  /// (true); may be empty.
  std::function<void(bool is_connected)> on_contact{};
  /// Function that is called with the access keys of the mirror when a program has opened a run; may be empty.
  std::function<void(const StoreKeys&)> on_store_keys{};
  std::string progress;  ///< ProgressPattern for the output of rank 0's program, which does not use the client; "" to read
                         ///< no progress
};

class ProgramHost;

/// The train function that program_function() returns, with access to the programs that it starts.
struct ProgramFunction {
  std::function<void(Context&)> train;
  std::function<std::string()> stacks{};  ///< returns the Python stacks of this rank's program if it uses the client
  std::shared_ptr<ProgramHost> host;      ///< starts the programs and serves them in the runs that they request
};

/// Returns a train function that starts the program on every rank and waits until the program ends. If a program uses
/// the client (protocol/README.md describes the protocol; src/python contains a client), its requests become calls of
/// the Context. A program without the client runs until it exits, and gets the stop signal if the run stops. The train
/// function throws ProgramFailed if the program of any rank fails. program_function() throws UsageError if the
/// executable or the script of an interpreter does not exist, for an unknown framework, or for an invalid `progress`.
ProgramFunction program_function(ProgramOptions options);

}  // namespace trainrt::program
