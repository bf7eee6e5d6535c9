#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt {

/// Returns the CPUs on which this thread may run, as a text with a "1" or "0" for each CPU from CPU 0 on; "" if they
/// cannot be determined.
std::string affinity_of_this_thread();

/// Returns the number of CPUs on which this thread may run; 1 if it cannot be determined.
int cpus_of_this_thread();

/// Returns the number of CPUs for this rank. This is the number of CPUs in its affinity `mine`, divided by the number of
/// ranks of the node with the same affinity, but at least 1. `of_node`: affinities of all ranks of the node. Pure function.
int cpus_each(const std::string& mine, std::span<const std::string> of_node);

/// The CPUs on which a rank may run, and the number of ranks that share these CPUs.
struct CpuShare {
  int cpus = 1;
  int ranks = 1;
  bool operator==(const CpuShare&) const = default;
};

/// Returns the CPUs in the affinity `mine`, and the number of ranks of the node with an equal affinity. `of_node`:
/// affinities of all ranks of the node. Pure function.
CpuShare cpu_share(const std::string& mine, std::span<const std::string> of_node);

/// Returns the number of threads for a task, from 1 to `threads`. A rank that shares its CPUs with other ranks gets
/// threads * cpus / ranks, so that all ranks together have at most `threads` threads per CPU. Pure function.
int limited_threads(int threads, const CpuShare& share);

/// Sets the CpuShare of this process. Thread-safe.
void set_cpu_share_of_process(const CpuShare& share);

/// Returns limited_threads() for the CpuShare of this process, or `threads` if the CpuShare was not set. All code that
/// starts several threads per rank, to read data or to write and read checkpoints, must call this function. Thread-safe.
int threads_of_this_rank(int threads);

/// Returns the CPUs for one of `ranks` ranks that share the CPUs in `affinity`: a block of `width` consecutive CPUs. The
/// blocks of the ranks are in the order of `index`.
///
/// Returns `affinity` unchanged in these cases, in which the scheduler of the system balances the ranks better:
/// - There are at least as many CPUs as ranks.
/// - There are at most `width` CPUs.
/// - The CPUs cannot be divided into blocks that all have the same number of ranks.
///
/// Pure function.
std::string block_of_cpus(const std::string& affinity, int index, int ranks, int width);

/// Returns the affinity that this process had before the first call of set_affinity_of_this_thread(); the affinity of this
/// thread if there was no call. Thread-safe.
std::string affinity_of_launcher();

/// Restricts this thread, and all threads and processes that it starts later, to the CPUs in `affinity`, a text in the
/// format of affinity_of_this_thread(). Returns false if the system refuses.
bool set_affinity_of_this_thread(const std::string& affinity);

/// Returns the number of CPUs on which at least one of several threads may run, from the affinities of these threads. Pure
/// function.
int cpus_together(std::span<const std::string> affinities);

/// Returns the kind of CPU of this node: its model, and those instruction sets by which mathematical libraries choose their
/// code. Programs on CPUs of different kinds may compute results with different bits.
std::string kind_of_cpu();

/// Returns the kind of CPU that `cpuinfo`, the content of /proc/cpuinfo, describes; "" if it describes no CPU. Pure
/// function.
std::string kind_of_cpu_in(std::string_view cpuinfo);

}  // namespace trainrt
