#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::rundir {

/// What a rank is at, and what it and the programs that it has started have used since the attempt began: one line of
/// logs/ranks-attempt-000003.jsonl, which the rank writes over from time to time.
struct RankSign {
  int rank = 0;
  std::string host;
  std::string time;      ///< UTC; of these figures
  std::string phase;     ///< of watch::name_of(): "training"; "" = not known
  std::string waits_in;  ///< the collective that it waits in; "" = none
  std::int64_t step = 0;
  double quiet_s = 0;      ///< since the last sign of progress
  double cpu_s = -1;       ///< user and system time; -1 = not known, here and in the next four
  int cpus = 0;            ///< that it may use; 0 = not known
  std::int64_t rss = -1;   ///< bytes of memory now
  std::int64_t peak = -1;  ///< the most of any look, or of any one process at any time
  std::int64_t read = -1;  ///< bytes from storage, as the kernel counts them: what the page cache had is not among them
  std::int64_t written = -1;
  std::optional<double> gpu;               ///< how busy its GPUs were at the last look, 0 to 1
  std::optional<std::int64_t> gpu_memory;  ///< bytes that it has on its GPUs
  std::optional<double> energy_j;          ///< of the whole node, since the attempt began; told by its first rank alone
  bool ended = false;                      ///< the last one: the rank has come to the end of the attempt
  double age_s = 0;                        ///< of the attempt on this rank
  std::optional<double> gpu_mean;          ///< of all looks of the attempt
  std::string energy_of;                   ///< what energy_j has in it: "cpu", "gpu" or "cpu+gpu"
  std::string cpu_list;                    ///< which CPUs: "0-3,8"; "" = not known, or too many pieces
};

/// The file of all ranks, in the run directory: "logs/ranks-attempt-000003.jsonl".
std::string rank_signs_name(int attempt);

/// So long is each rank's line, blanks and line break included: rank r's begins at byte r * rank_sign_bytes.
inline constexpr std::size_t rank_sign_bytes = 512;

/// That line. Texts that would make it longer are cut.
std::string rank_sign_line(const RankSign& sign);

/// What a line tells: nothing if it is no such line of this rank. Numbers that are missing, or that cannot be, are left at
/// what means "not known". Never throws for what it says.
std::optional<RankSign> rank_sign_from(std::string_view line, int rank);

/// All lines of an attempt, one a rank; nullopt: that rank has written nothing that can be read. Empty if there is no such
/// file, or it cannot be read. Never throws for its content.
std::vector<std::optional<RankSign>> read_rank_signs(const std::string& run_dir, int attempt);

}  // namespace trainrt::rundir
