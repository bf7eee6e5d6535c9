#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "rundir/records/bit_facts.hpp"
#include "trainer/start/rank_resources.hpp"

namespace trainrt::trainer {

/// The memory that the ranks of an earlier attempt used.
struct RecordedMemory {
  int attempt = 0;                  ///< number of the attempt; 0: no attempt has recorded its memory
  std::vector<std::int64_t> peaks;  ///< peak memory of each rank, bytes; if unknown, the maximum of the other ranks
  std::int64_t max_peak = 0;        ///< maximum of `peaks`
  int max_per_node = 0;             ///< maximum number of ranks on a node
};

/// Returns the memory that the ranks of the newest attempt with such records used.
RecordedMemory recorded_memory(const std::string& run_dir);

/// Checks on rank 0, before an attempt begins, whether a restart changes the bits of the results, and whether the ranks
/// fit on their nodes. `hosts` are the node names by rank.
/// - Compares facts (rundir::BitFacts) with those of the newest checkpoint or, without a checkpoint, of the last
///   attempt. If facts differ, logs a warning. With config key scaling.require_same_bits = true, throws UsageError
///   instead; then also if the number of ranks differs.
/// - With scaling.on_resize = same_bits, calls require_fit(). Then logs how many workers share how many CPUs, if the
///   config sets same_bits or there are more workers than CPUs.
void check_same_bits(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts);

/// Checks the ranks of a run with scaling.on_resize = same_bits. Throws UsageError if there are fewer CPUs than
/// scaling.min_workers. Also throws if a node has less memory than its ranks used in an earlier attempt with fewer
/// ranks per node. Logs a warning instead of throwing if same_bits is only the default.
void require_fit(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts);

/// The facts on which the bits of a run's earlier results depend, such as kinds of CPUs and versions of libraries.
struct EarlierBits {
  std::string from;  ///< what the facts belong to: "checkpoint_000005", or "attempt 3"
  int ranks = 0;
  rundir::BitFacts bits;
};

/// Returns the differences between earlier facts and those of an attempt with `resources`. Pure function.
std::vector<std::string> bit_differences(const EarlierBits& earlier, const RankResources& resources);

/// Returns the libraries that the ranks have loaded on which the bits of results may depend, by name. Collective.
std::map<std::string, rundir::RankTexts> libraries_of_ranks(Communicator& communicator);

/// Compares the builds of the libraries that the ranks have loaded with those that the ranks had when the checkpoint
/// `from` was saved. If they differ, logs a warning, or throws comm::AgreedError if config key
/// scaling.require_same_bits is true. `bits`: facts of the checkpoint, the same on all ranks; "": unknown.
void check_libraries(const config::RunSpec& spec, const std::string& bits, const std::string& from,
                     const std::map<std::string, rundir::RankTexts>& libraries);

/// Like check_libraries(), with the facts of the newest checkpoint in the run directory, for a recovery from a copy in
/// memory. Does nothing if the run has no checkpoint with facts. Collective.
void check_libraries_of_newest(const config::RunSpec& spec, const std::map<std::string, rundir::RankTexts>& libraries,
                               Communicator& communicator);

/// Throws UsageError if a node has less memory than its ranks need. The need is the memory that the ranks used in the
/// attempt of `used`. Checks only nodes with more ranks than any node of that attempt had. Pure function.
void require_memory_of_nodes(const RecordedMemory& used, const RankResources& resources,
                             const std::vector<std::string>& hosts);

}  // namespace trainrt::trainer
