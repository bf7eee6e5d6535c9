#pragma once
#include <optional>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Facts about the start of a run's ranks, some of which may be unknown.
struct RankStart {
  std::optional<int> nodes;     ///< number of nodes with ranks; nothing if it is unknown
  std::string no_standby = {};  ///< reason why no standby processes are started, as a clause; "" if they are started
};

/// Returns from what a run with failure.recovery = live continues after the death of a rank, for one line of output: "from
/// copies in memory (standby processes: 1 per rank)". Returns "" for other runs. Pure function.
std::string recovery_text(const config::RunSpec& spec, const RankStart& start);

/// Logs the line "recovery: ...", unless recovery_text() returns "".
void log_recovery(const config::RunSpec& spec, const RankStart& start);

}  // namespace trainrt::cli
