#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rundir/records/rank_status.hpp"

namespace trainrt::view {

/// A time as utc_now() has it.
bool is_utc(const std::string& text);

/// Why a rank holds the others up, or has something wrong.
struct LateRank {
  std::size_t rank = 0;
  std::string why;
};

/// Those of a running attempt that are late, the worst first: a rank whose record is old (30 s, or 15 s if most others
/// wait in a collective, and 3 times as old as the median rank's) gives no sign of life; one that waits in no collective
/// while most of the others do, and is not at a checkpoint or ended, is waited for. `now`: UTC, as the times of the ranks
/// are. Pure.
std::vector<LateRank> late_ranks(std::span<const std::optional<rundir::RankStatus>> ranks, const std::string& now);

}  // namespace trainrt::view
