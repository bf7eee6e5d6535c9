#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::rundir {

/// The activity and resource usage of a rank and its child processes since the attempt began. It is one line of
/// logs/ranks-attempt-000003.jsonl, which the rank overwrites periodically. A value of -1 means unknown.
struct RankStatus {
  int rank = 0;
  std::string host;
  std::string time;      ///< UTC; when the values were measured
  std::string phase;     ///< name of a watch::Phase: "training"; "" if unknown
  std::string waits_in;  ///< the collective that the rank waits in; "" if it does not wait
  std::int64_t step = 0;
  double quiet_s = 0;                      ///< seconds since the last progress
  double cpu_s = -1;                       ///< user and system time
  int cpus = 0;                            ///< number of CPUs that it may use; 0 if unknown
  std::int64_t rss = -1;                   ///< bytes of resident memory now
  std::int64_t peak = -1;                  ///< maximum bytes of memory, of all measurements and of any single process
  std::int64_t read = -1;                  ///< bytes read from storage, without those from the page cache
  std::int64_t written = -1;               ///< bytes written to storage
  std::optional<double> gpu;               ///< GPU utilization at the last measurement, 0 to 1
  std::optional<std::int64_t> gpu_memory;  ///< bytes allocated on its GPUs
  std::optional<double> energy_j;          ///< energy of the node since the attempt began, joules; only on its first rank
  bool ended = false;                      ///< the attempt has ended on this rank; this status is the last one
  double age_s = 0;                        ///< seconds since the attempt began
  std::optional<double> gpu_mean;          ///< mean GPU utilization of the attempt, 0 to 1
  std::string energy_of;                   ///< components that energy_j includes: "cpu", "gpu" or "cpu+gpu"
  std::string cpu_list;                    ///< numbers of its CPUs: "0-3,8"; "" if unknown, or too long
};

/// Returns the file of all ranks, relative to the run directory: "logs/ranks-attempt-000003.jsonl".
std::string rank_statuses_name(int attempt);

/// Length of a rank's line, including padding and line break. Rank r's line begins at byte r * rank_status_bytes.
inline constexpr std::size_t rank_status_bytes = 512;

/// Returns the line of a status, of rank_status_bytes bytes. Texts that do not fit are shortened.
std::string rank_status_line(const RankStatus& sign);

/// Parses the line of a rank; returns nothing if the line is invalid or another rank's. Missing and invalid numbers become
/// unknown. Never throws because of the content.
std::optional<RankStatus> rank_status_from(std::string_view line, int rank);

/// Reads the statuses of an attempt, by rank; the element of a rank without a valid line is empty. Returns an empty list if
/// the file is missing or unreadable. Never throws because of the content.
std::vector<std::optional<RankStatus>> read_rank_statuses(const std::string& run_dir, int attempt);

}  // namespace trainrt::rundir
