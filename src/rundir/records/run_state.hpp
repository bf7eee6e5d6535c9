#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainrt::rundir {

struct AttemptRecord;

/// The state of a run, of one of its attempts, or of a trial of a sweep. It has the same words everywhere: in run.json, in
/// what commands and pages print, in their JSON, and in Python. The guide of src/view explains each.
enum class RunState : std::uint8_t {
  waiting,   ///< a trial that has not begun
  starting,  ///< a run whose first attempt has written no record yet
  running,
  paused,    ///< a trial that is saved and waits for its turn; its run is `stopped`
  finished,  ///< complete, also if a rule, the train function or a scheduler ended it early
  stopped,   ///< saved on purpose before its end; the same command continues it
  failed,    ///< ended by an error
  killed,    ///< its processes are gone and wrote no end
};

inline constexpr std::array<std::string_view, 8> state_words = {"waiting",  "starting", "running", "paused",
                                                                "finished", "stopped",  "failed",  "killed"};

constexpr std::string_view word_of(RunState state) { return state_words.at(static_cast<std::size_t>(state)); }

/// Returns the state that a word means; nullopt if it means none.
std::optional<RunState> state_from(std::string_view word);

/// Returns whether nothing runs and nothing is about to: the state is the end of an attempt.
constexpr bool is_over(RunState state) { return state >= RunState::finished; }

/// Returns whether an error or a kill ended it.
constexpr bool went_wrong(RunState state) { return state == RunState::failed || state == RunState::killed; }

/// What decides the state of a run.
struct RunFacts {
  RunState recorded = RunState::running;  ///< in run.json
  const AttemptRecord* newest = nullptr;  ///< the newest attempt whose record can be read; null: there is none
  bool newest_is_alive = false;           ///< its processes run; counts only if it has no end
  bool lacks_end = false;                 ///< the run finished, and the checkpoint of its end is gone (missing_end())
};

/// Returns the state of a run. run.json alone does not show it: a process that is killed writes nothing there. Pure.
RunState state_of(const RunFacts& facts);

}  // namespace trainrt::rundir
