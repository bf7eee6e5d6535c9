#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::view {

/// What a rank was at and had used when it last wrote that down: its line of logs/ranks-attempt-000003.jsonl.
struct RankState {
  std::string host;
  std::string time;  ///< UTC
  std::int64_t step = 0;
  std::string phase;     ///< starting, loading, training, checkpoint, finishing
  double quiet_s = 0;    ///< since its last sign of progress
  std::string waits_in;  ///< the collective that it waits in; "" = none
  double cpu_s = 0;      ///< since the attempt began, programs included
  double cpus = 0;
  double memory = 0, peak_memory = 0;  ///< bytes
  double read = 0, written = 0;        ///< bytes
  std::optional<double> gpu;           ///< busy, 0 to 1
  std::optional<double> gpu_memory;    ///< bytes
  bool ended = false;
};

/// A time as utc_now() has it.
bool is_utc(const std::string& text);

inline constexpr std::size_t rank_line_bytes = 512;

/// "logs/ranks-attempt-000003.jsonl"
std::string rank_states_name(int attempt);

/// A line of that file; nullopt if it is torn, or nothing has been written there. Pure.
std::optional<RankState> rank_state_from(std::string_view line);

/// Of each rank, by its line; a file that is not there has none. Reads no more than `most` ranks. StorageError if it cannot
/// be read.
std::vector<std::optional<RankState>> read_rank_states(const std::string& path, std::size_t most);

/// Why a rank holds the others up, or has something wrong.
struct LateRank {
  std::size_t rank = 0;
  std::string why;
};

/// Those of a running attempt that are late, the worst first: a rank whose record is old (30 s, or 15 s if most others
/// wait in a collective, and 3 times as old as the median rank's) gives no sign of life; one that waits in no collective
/// while most of the others do, and is not at a checkpoint or ended, is waited for. `now`: UTC. Pure.
std::vector<LateRank> late_ranks(std::span<const std::optional<RankState>> ranks, const std::string& now);

}  // namespace trainrt::view
