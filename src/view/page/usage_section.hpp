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

/// Returns a section with tables of CPU time, memory, storage, GPU and energy: totals per attempt, and values per rank
/// of the newest attempt. If there are many ranks, only ranks with extreme values are shown.
Section usage_section(const std::vector<AttemptUsage>& attempts);

}  // namespace trainrt::view::page
