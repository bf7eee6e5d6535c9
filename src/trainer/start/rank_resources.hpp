#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "core/process/cpus.hpp"
#include "launch/world.hpp"
#include "rundir/records/bit_facts.hpp"

namespace trainrt::trainer {

/// The CPUs, the memory and the threads of all ranks. All ranks have equal values.
struct RankResources {
  struct OfRank {
    int node = 0;               ///< number of the rank's node
    std::string affinity;       ///< affinity_of_this_thread()
    std::string cpu;            ///< kind_of_cpu()
    int threads = 1;            ///< OMP_NUM_THREADS; if it is not set, the number of CPUs for this rank (cpus_each())
    std::uint64_t memory = 0;   ///< memory_limit() of the rank's node, bytes
    std::string gpus = "none";  ///< kinds of the rank's GPUs
    std::map<std::string, std::string> variables = {};  ///< environment variables on which bits may depend, if set
  };
  std::vector<OfRank> ranks;

  int nodes() const;                  ///< number of nodes
  int cpus() const;                   ///< number of CPUs of all nodes on which at least one rank may run
  CpuShare share_of(int rank) const;  ///< CPUs of a rank, and the number of ranks that share them
};

/// Returns the resources of all ranks. Collective.
RankResources gather_resources(const World& world, Communicator& communicator);

/// Returns facts about the processes of this attempt that may change the bits of results, such as the kinds of CPUs and
/// the numbers of threads.
rundir::BitFacts bit_facts_of(const RankResources& resources);

/// Returns a description of how many workers share how many CPUs: "4 workers on 2 CPUs of 1 node (2 workers per CPU)".
std::string sharing_in_words(int workers, int cpus, int nodes);

/// For a run with a fixed number of workers (scaling.on_resize = same_bits), sets OMP_NUM_THREADS of this process and
/// its programs:
/// - In the first attempt of the run: to the number of CPUs for this rank, unless the variable is set already.
/// - In later attempts: to the number of threads that earlier attempts of the run in `run_dir` used. If same_bits is
///   only the default, a variable that is set already keeps its value.
///
/// If more ranks than CPUs share a set of CPUs, also binds this thread to a block of consecutive CPUs, as many as the
/// rank has threads. Blocks follow the order of the ranks. Threads are not bound if the blocks would have different
/// numbers of ranks (block_of_cpus()). Must be called before programs are started. Collective.
void fix_threads(const config::RunSpec& spec, const std::string& run_dir, const World& world, Communicator& communicator);

}  // namespace trainrt::trainer
