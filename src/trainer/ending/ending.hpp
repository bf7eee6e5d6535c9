#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "rundir/records/run_state.hpp"

namespace trainrt::trainer {

/// How the session of an attempt ended; the same on all ranks.
struct Ending {
  enum class Kind : std::uint8_t {
    finished,        ///< the train function returned
    finished_early,  ///< a stop rule was met, or the train function asked for the end
    stopped,         ///< by a signal, or before the job's time is over
    not_begun,       ///< stopped before the train function had restored, stepped or reported, or the program was started
  };
  Kind kind = Kind::finished;
  std::string reason;  ///< what stopped it: "SIGUSR1", or the rule that was met; "" if it returned
  bool saved = true;   ///< nothing is lost when the run goes on from its newest checkpoint
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  bool silent = false;  ///< a program's that has not restored, stepped or reported: how far it came is not known
  std::string place;    ///< of a train function whose checkpoints are its directories: what it goes on from; "": of others
  std::string slow_node = {};  ///< that it was stopped for, `reason` says how slow it was; "": it was not
};

/// What is concluded from it.
struct Conclusion {
  ExitCode code = ExitCode::finished;
  rundir::RunState state = rundir::RunState::finished;  ///< of the run, for its record; or stopped
  std::string why;                                      ///< for the attempt's record: "stopped by SIGTERM"
  std::string message;                                  ///< for people: what happened, and what to do next
  std::string blamed_node = {};                         ///< for the attempt's record
};
/// Pure.
Conclusion conclude(const Ending& ending, const std::string& run_dir);

/// The last line of a start of a run that has finished.
std::string finished_already_message(const std::string& name, const std::string& run_dir);

}  // namespace trainrt::trainer
