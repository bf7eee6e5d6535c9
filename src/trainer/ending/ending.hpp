#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "rundir/records/run_state.hpp"

namespace trainrt::trainer {

/// How an attempt's session ended. The same on all ranks.
struct Ending {
  enum class Kind : std::uint8_t {
    finished,        ///< the train function returned
    finished_early,  ///< a stop rule was met, or the train function requested the end
    stopped,         ///< by a signal, by the job's time limit, or because of a slow node
    not_begun,       ///< stopped before the train function restored, stepped or reported, or before the program started
  };
  Kind kind = Kind::finished;
  std::string reason;  ///< cause of the stop: "SIGUSR1", or the rule that was met; "" if the train function returned
  bool saved = true;   ///< nothing is lost if the run resumes from its newest checkpoint
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  bool silent = false;  ///< a program that has not restored, stepped or reported, so its progress is unknown
  /// Checkpoint from which the run resumes, if the train function saves by reporting directories; otherwise "".
  std::string resumes_from;
  std::string slow_node = {};  ///< node because of which the run was stopped, or ""
};

/// The consequences of an Ending for the exit code, the records and the log.
struct Conclusion {
  ExitCode code = ExitCode::finished;
  rundir::RunState state = rundir::RunState::finished;  ///< `finished` or `stopped`, for the run's record
  std::string why;                                      ///< for the attempt's record: "stopped by SIGTERM"
  std::string message;                                  ///< for the log: how the run ended, and what to do next
  std::string blamed_node = {};                         ///< for the attempt's record
};
/// Pure function.
Conclusion conclude(const Ending& ending, const std::string& run_dir);

/// Returns the message for the start of a run that has already finished.
std::string finished_already_message(const std::string& name, const std::string& run_dir);

}  // namespace trainrt::trainer
