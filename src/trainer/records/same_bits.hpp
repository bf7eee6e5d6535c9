#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/run_spec.hpp"
#include "rundir/records/attempt_record.hpp"
#include "trainer/start/rank_resources.hpp"

namespace trainrt::trainer {

/// The memory that the ranks of an earlier attempt used.
struct RecordedMemory {
  int attempt = 0;                  ///< number of the attempt; 0: no attempt has recorded its memory
  std::vector<std::int64_t> peaks;  ///< maximum bytes of memory of each rank; unknown ones have the maximum of the others
  std::int64_t max_peak = 0;        ///< maximum of `peaks`
  int max_per_node = 0;             ///< maximum number of ranks on a node
};

/// Returns the memory that the ranks of the newest attempt with such records used.
RecordedMemory recorded_memory(const std::string& run_dir);

/// Checks on rank 0, before an attempt begins, whether its results will have the bits that the run would have had without
/// the restart, and whether the ranks fit on their nodes. `hosts` are the node names by rank.
/// - Logs a warning if facts differ from those of the last attempt (rundir::BitFacts), or throws UsageError if config key
///   scaling.require_same_bits is true; then also if the number of ranks differs.
/// - With scaling.on_resize = same_bits, throws UsageError if there are fewer CPUs than scaling.min_workers, or if a node
///   has less memory than its ranks used in an earlier attempt with fewer ranks per node; logs a warning instead if
///   same_bits is only the default. Logs how many workers share how many CPUs if the config sets this value.
void check_same_bits(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts);

/// Throws UsageError if the ranks of a run with scaling.on_resize = same_bits have too few CPUs or too little memory, as
/// check_same_bits() does. Logs a warning instead if same_bits is only the default.
void require_fit(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts);

/// Returns the differences between the facts of `last`, the newest earlier attempt, and those of an attempt with
/// `resources`. Pure function.
std::vector<std::string> bit_differences(const rundir::AttemptRecord& last, const RankResources& resources);

/// Throws UsageError if the ranks of a node need more memory than the node has, according to the memory `used` by an
/// attempt with fewer ranks per node. Pure function.
void require_memory_of_nodes(const RecordedMemory& used, const RankResources& resources,
                             const std::vector<std::string>& hosts);

}  // namespace trainrt::trainer
