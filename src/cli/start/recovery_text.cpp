#include "cli/start/recovery_text.hpp"

#include <fmt/format.h>

#include "core/output/log.hpp"

namespace trainrt::cli {

std::string recovery_text(const config::RunSpec& spec, const RankStart& start) {
  if (spec.failure.recovery != config::Recovery::live) return {};
  if (spec.failure.max_failures == 0) return "none, because failure.max_failures = 0 allows no restart";
  if (!start.nodes)
    return "from copies in memory if `trainrt -n` or `trainrt supervise` starts all ranks on one node, otherwise from the "
           "newest checkpoint";
  if (*start.nodes != 1) return "from the newest checkpoint, because the ranks are on several nodes";
  return fmt::format("from copies in memory ({})", start.no_standby.empty()
                                                       ? "standby processes: 1 per rank"
                                                       : "no standby processes, because " + start.no_standby);
}

void log_recovery(const config::RunSpec& spec, const RankStart& start) {
  if (const auto text = recovery_text(spec, start); !text.empty()) log::info("recovery: " + text);
}

}  // namespace trainrt::cli
