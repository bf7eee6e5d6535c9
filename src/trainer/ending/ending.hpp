#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::trainer {

/// Describes how the Session of an attempt ended. All ranks have equal values.
struct Ending {
  enum class Kind : std::uint8_t {
    finished,        ///< the train function returned
    finished_early,  ///< a stop rule was met, or the train function requested the end
    stopped,         ///< a signal, the job's time limit, a slow node or a callback stopped the run
    not_begun,       ///< stopped before the train function restored, stepped or reported, or before the program started
  };
  Kind kind = Kind::finished;
  std::string reason;  ///< cause of the stop: "SIGUSR1", or the rule that was met; "" if the train function returned
  bool saved = true;   ///< whether a resume from the newest checkpoint repeats no work
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  bool silent = false;  ///< the train function is a program that has made no restore, step or report
  /// Description of the checkpoint from which the run resumes. "" unless the train function saves by reporting
  /// directories.
  std::string resumes_from;
  std::string slow_node = {};  ///< name of the slow node for which the run was stopped; otherwise ""
  bool connected = false;      ///< the program uses trainrt's client; if also `silent`, it has not restored or reported yet
  bool has_checkpoint = false;  ///< the run had a checkpoint when the attempt began
  bool supervised = false;      ///< a supervising process (`trainrt supervise`) logs whether and how the run is restarted
};

/// The exit code, the recorded texts and the log message that follow from an Ending.
struct Conclusion {
  ExitCode code = ExitCode::finished;
  rundir::RunState state = rundir::RunState::finished;  ///< `finished` or `stopped`, for the run's record
  std::string why;                                      ///< reason in the attempt's record: "stopped by SIGTERM"
  std::string message;           ///< log message: how the run ended, and the next action for the user
  std::string blamed_node = {};  ///< slow node in the attempt's record; otherwise ""
};
/// Returns the Conclusion that follows from `ending`, the ending of an attempt of the run `spec`. Pure function.
Conclusion conclude(const Ending& ending, const config::RunSpec& spec);

/// Returns the message for the start of a run that has already finished.
std::string finished_already_message(const config::RunSpec& spec);

/// Returns a clause for messages that describes where the next start of a failed run begins. `is_silent` is true if the run
/// is a program that does not report progress. Reads the run directory.
std::string next_start(const config::RunSpec& spec, bool is_silent);

}  // namespace trainrt::trainer
