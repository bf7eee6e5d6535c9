#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::rundir {

/// The activity and resource usage of a rank and its child processes since the attempt began. The status is stored as one
/// line of logs/ranks-attempt-000003.jsonl, which the rank overwrites periodically. A value of -1 means unknown.
struct RankStatus {
  int rank = 0;
  std::string host;
  std::string time;      ///< time of the measurement, UTC
  std::string phase;     ///< activity of the rank, the name of a watch::Phase: "training"; "" if unknown
  std::string waits_in;  ///< collective operation in which the rank waits; "" if it does not wait
  std::int64_t step = 0;
  double quiet_s = 0;         ///< seconds since the rank's last progress
  double cpu_s = -1;          ///< CPU time in seconds, user and system
  int cpus = 0;               ///< number of CPUs that the rank may use; 0 if unknown
  std::int64_t rss = -1;      ///< bytes of resident memory at the measurement
  std::int64_t peak = -1;     ///< maximum bytes of memory so far, of any one process or of all together at a measurement
  std::int64_t read = -1;     ///< bytes read from storage in this attempt, without reads from the page cache
  std::int64_t written = -1;  ///< bytes written to storage in this attempt
  std::optional<double> gpu;  ///< GPU utilization at the last measurement, 0 to 1
  std::optional<std::int64_t> gpu_memory;  ///< bytes allocated on the rank's GPUs
  std::optional<double> energy_j;  ///< joules used by the node since the attempt began; only on the node's first rank
  bool ended = false;              ///< true if the attempt has ended on this rank, so that this status is the last one
  double age_s = 0;                ///< seconds from the start of the attempt to the measurement
  std::optional<double> gpu_mean;  ///< mean GPU utilization of the attempt, 0 to 1
  std::string energy_of;           ///< components included in energy_j: "cpu", "gpu" or "cpu+gpu"
  std::string cpu_list;            ///< numbers of the rank's CPUs: "0-3,8"; "" if unknown or too long
};

/// Returns the path of the file with the statuses of all ranks of an attempt, relative to the run directory:
/// "logs/ranks-attempt-000003.jsonl".
std::string rank_statuses_name(int attempt);

/// Length in bytes of a rank's line in the file of statuses, including padding and newline. Rank r's line begins at offset
/// r * rank_status_bytes.
inline constexpr std::size_t rank_status_bytes = 512;

/// Formats a rank's status as a line of exactly rank_status_bytes bytes. Texts that do not fit are shortened.
std::string rank_status_line(const RankStatus& sign);

/// Parses a line of the file of statuses. Returns nothing if the line is invalid or belongs to another rank than `rank`.
/// Missing and invalid numbers become unknown. Never throws because of the content.
std::optional<RankStatus> rank_status_from(std::string_view line, int rank);

/// Reads the statuses of all ranks of an attempt, in rank order; the element of a rank without a valid line is empty.
/// Returns an empty list if the file of statuses is missing or unreadable. Never throws because of the content.
std::vector<std::optional<RankStatus>> read_rank_statuses(const std::string& run_dir, int attempt);

}  // namespace trainrt::rundir
