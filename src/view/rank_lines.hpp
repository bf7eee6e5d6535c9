#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::view {

/// What a rank is at and has used since its attempt began, its children included: a line of
/// logs/ranks-attempt-000003.jsonl. What is not known is nullopt.
struct RankLine {
  std::int64_t rank = 0;
  std::string host, time, phase, waits_in;
  std::int64_t step = 0;
  std::optional<double> quiet_s;                   ///< since its last sign of progress
  std::optional<double> cpu_s, cpus;               ///< used; and how many CPUs it may use
  std::optional<double> rss, peak, read, written;  ///< bytes
  std::optional<double> gpu, gpu_memory;           ///< 0 to 1; bytes
  std::optional<double> energy_j;                  ///< of its node, if it is the first there
  bool ended = false;
};

/// "logs/ranks-attempt-000003.jsonl", in the run directory.
std::string rank_lines_name(int attempt);

/// nullopt if the line is no rank's: torn, NUL bytes, another kind. Pure.
std::optional<RankLine> rank_line_from(std::string_view line);

/// Those ranks of an attempt that have written theirs, by rank. None if there is no such file.
std::vector<RankLine> rank_lines_of(const std::string& run_dir, int attempt);

}  // namespace trainrt::view
