#include "cli/supervise/standby_ranks.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/output/log.hpp"

namespace trainrt::cli {

void StandbyRanks::keep() {
  constexpr int max_lost = 8;
  if (group_ && !group_->is_complete()) {
    group_.reset();
    start_at_s_ = monotonic_seconds() + first_pause_s_ * std::exp2(lost_++);
    if (lost_ == max_lost) give_up(fmt::format("their processes ended {} times before they were needed", lost_));
  }
  if (group_ || monotonic_seconds() < start_at_s_) return;
  try {
    group_ = start_();
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

std::unique_ptr<launch::RankGroup> StandbyRanks::take() {
  if (group_ && !group_->is_complete()) group_.reset();
  if (group_) lost_ = 0;
  return std::exchange(group_, nullptr);
}

void StandbyRanks::give_up(const std::string& reason) {
  log::warning(fmt::format("a restart after a failure will take longer, because standby processes cannot be kept ready: {}",
                           reason));
  start_at_s_ = std::numeric_limits<double>::infinity();
}

}  // namespace trainrt::cli
