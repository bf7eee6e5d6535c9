#pragma once
#include <vector>

#include "view/page/rank_usage.hpp"
#include "view/page/section.hpp"

namespace trainrt::view::page {

/// The resource usage of the ranks of an attempt.
struct AttemptUsage {
  int attempt = 0;
  std::vector<RankUsage> ranks;
};

/// Returns tables of CPU time, memory, storage, GPU and energy: totals per attempt, and the ranks of the newest attempt. Of
/// many ranks, only those with extreme values are shown.
Section usage_section(const std::vector<AttemptUsage>& attempts);

}  // namespace trainrt::view::page
