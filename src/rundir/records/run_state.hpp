#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainrt::rundir {

struct AttemptRecord;

/// The state of a run, of one of its attempts, or of a trial of a sweep. A state has the same name in run.json, in the text
/// and JSON output of commands, and in Python. The guide src/view/README.md explains each state.
enum class RunState : std::uint8_t {
  waiting,   ///< only trials: the trial has not begun
  starting,  ///< only runs: the first attempt has not written its record yet, or a program waits to open its run again
  running,
  paused,    ///< only trials: the trial is saved and waits until it may continue; its run is `stopped`
  finished,  ///< the training is complete, or was ended early by a stop rule, the train function or a scheduler
  stopped,   ///< the run was saved and stopped before its end; the same command resumes it
  failed,    ///< the run was ended by an error
  killed,    ///< the processes no longer exist, but have recorded no end
};

inline constexpr std::array<std::string_view, 8> state_words = {"waiting",  "starting", "running", "paused",
                                                                "finished", "stopped",  "failed",  "killed"};

/// Returns the name of `state`, for example "running".
constexpr std::string_view word_of(RunState state) { return state_words.at(static_cast<std::size_t>(state)); }

/// Returns the state of a run with the name `word`; nothing if no state has this name.
std::optional<RunState> state_from(std::string_view word);

/// Returns whether `state` is the end of an attempt: no process of the run is running, and the run continues only if it is
/// started again.
constexpr bool is_over(RunState state) { return state >= RunState::finished; }

/// Returns whether `state` means that the run was ended by an error or killed.
constexpr bool went_wrong(RunState state) { return state == RunState::failed || state == RunState::killed; }

/// The observations from which state_of() determines the state of a run.
struct RunFacts {
  RunState recorded = RunState::running;  ///< state according to run.json
  /// the newest readable record of an attempt; null if no attempt has a readable record
  const AttemptRecord* newest = nullptr;
  /// true if processes of the newest attempt are running; used only if its record has no end
  bool newest_is_alive = false;
  bool lacks_end = false;  ///< true if the run finished, but its last checkpoint is missing (missing_end())
  /// true if a process has claimed the run and has not begun an attempt yet (StartClaim)
  bool is_being_started = false;
};

/// Returns the state of a run. The state in run.json alone is not sufficient, because a killed process cannot update that
/// file. Pure function.
RunState state_of(const RunFacts& facts);

}  // namespace trainrt::rundir
