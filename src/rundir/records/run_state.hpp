#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainrt::rundir {

struct AttemptRecord;

/// The state of a run, of one of its attempts, or of a trial of a sweep. The names are the same in run.json, in the output
/// of commands, in their JSON and in Python. The guide of src/view explains each.
enum class RunState : std::uint8_t {
  waiting,   ///< only trials: it has not begun
  starting,  ///< only runs: its first attempt has not written a record yet
  running,
  paused,    ///< only trials: it is saved and waits until it may continue; its run is `stopped`
  finished,  ///< complete, or ended early by a stop rule, the train function or a scheduler
  stopped,   ///< saved and stopped before its end; the same command resumes it
  failed,    ///< ended by an error
  killed,    ///< its processes no longer exist, but recorded no end
};

inline constexpr std::array<std::string_view, 8> state_words = {"waiting",  "starting", "running", "paused",
                                                                "finished", "stopped",  "failed",  "killed"};

/// Returns the name of a state: "running".
constexpr std::string_view word_of(RunState state) { return state_words.at(static_cast<std::size_t>(state)); }

/// Returns the state with that name; nothing if there is no such state.
std::optional<RunState> state_from(std::string_view word);

/// Returns whether the state is the end of an attempt, so that nothing runs or will start without a new command.
constexpr bool is_over(RunState state) { return state >= RunState::finished; }

/// Returns whether the run ended by an error or was killed.
constexpr bool went_wrong(RunState state) { return state == RunState::failed || state == RunState::killed; }

/// The facts that determine the state of a run.
struct RunFacts {
  RunState recorded = RunState::running;  ///< state in run.json
  const AttemptRecord* newest = nullptr;  ///< newest attempt with a readable record; null if there is no such attempt
  bool newest_is_alive = false;           ///< its processes run; used only if it has no end
  bool lacks_end = false;                 ///< the run finished, but the checkpoint of its end is missing (missing_end())
};

/// Returns the state of a run. run.json alone is not sufficient, because a killed process cannot update it. Pure function.
RunState state_of(const RunFacts& facts);

}  // namespace trainrt::rundir
