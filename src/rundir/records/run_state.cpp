#include "rundir/records/run_state.hpp"

#include <algorithm>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

std::optional<RunState> state_from(std::string_view word) {
  const auto found = std::ranges::find(state_words, word);
  if (found == state_words.end()) return std::nullopt;
  return static_cast<RunState>(found - state_words.begin());
}

RunState state_of(const RunFacts& facts) {
  const bool has_open_attempt = facts.newest != nullptr && facts.newest->end.empty();
  if (has_open_attempt && facts.newest_is_alive) return RunState::running;
  if (facts.is_being_started) return RunState::starting;
  if (has_open_attempt) return RunState::killed;
  if (facts.recorded == RunState::finished) return facts.lacks_end ? RunState::stopped : RunState::finished;
  if (facts.recorded != RunState::running) return facts.recorded;
  return facts.newest != nullptr ? state_of(*facts.newest) : RunState::starting;
}

}  // namespace trainrt::rundir
