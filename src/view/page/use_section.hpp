#pragma once
#include <vector>

#include "view/page/section.hpp"
#include "view/top/rank_lines.hpp"

namespace trainrt::view::page {

/// What the ranks of an attempt have used.
struct AttemptUse {
  int attempt = 0;
  std::vector<RankLine> ranks;
};

/// CPU, memory, storage, GPU and energy: of each attempt in all, and of the newest attempt's ranks, or, if they are many,
/// of those that stand out.
Section use_section(const std::vector<AttemptUse>& attempts);

}  // namespace trainrt::view::page
