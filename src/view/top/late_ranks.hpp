#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rundir/records/rank_status.hpp"

namespace trainrt::view {

/// Returns whether `text` is a time in the format of utc_now().
bool is_utc(const std::string& text);

/// A rank that delays the other ranks, or that has not updated its record for too long.
struct LateRank {
  std::size_t rank = 0;
  std::string why;
};

/// Returns the late ranks of a running attempt, the worst first. A rank is late in two cases. First, its record is
/// older than 30 s (15 s if at least half of the ranks wait in a collective) and three times as old as the record of
/// the median rank. Second, at least half of the ranks wait in a collective, and this rank neither waits nor saves. A
/// rank that has ended is never late. `now`: UTC. Pure function.
std::vector<LateRank> late_ranks(std::span<const std::optional<rundir::RankStatus>> ranks, const std::string& now);

}  // namespace trainrt::view
