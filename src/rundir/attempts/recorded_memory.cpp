#include "rundir/attempts/recorded_memory.hpp"

#include <algorithm>

#include "rundir/records/rank_status.hpp"

namespace trainrt::rundir {

int attempt_with_memory(const std::string& run_dir, const AttemptRecord& attempt) {
  const auto has_memory = [](const auto& status) { return status && status->peak > 0; };
  return std::ranges::any_of(read_rank_statuses(run_dir, attempt.number), has_memory) ? attempt.number
                                                                                      : attempt.memory_attempt;
}

}  // namespace trainrt::rundir
