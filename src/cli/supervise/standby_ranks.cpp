#include "cli/supervise/standby_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"

namespace trainrt::cli {

void StandbyRanks::keep() {
  if (group_ && !group_->is_complete()) {
    group_.reset();
    constexpr int max_exponent = 6;
    start_at_s_ = monotonic_seconds() + std::exp2(std::min(lost_++, max_exponent));
  }
  if (group_ || monotonic_seconds() < start_at_s_) return;
  try {
    group_ = start_();
  } catch (const Error& error) {
    log::warning(fmt::format("a restart after a failure will take longer, since no standby processes can be started: {}",
                             error.what()));
    start_at_s_ = std::numeric_limits<double>::infinity();
  }
}

std::unique_ptr<launch::RankGroup> StandbyRanks::take() {
  if (group_ && !group_->is_complete()) group_.reset();
  return std::exchange(group_, nullptr);
}

}  // namespace trainrt::cli
