#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>

#include "core/plugin.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

struct GpuBackend;

/// Options for opening a communicator.
struct CommOptions {
  double timeout_seconds = 1800;  ///< how long a collective waits for the other ranks
  std::string backend;            ///< name of a Backend or GpuBackend; "" or "auto" chooses the best available one
  bool check = false;             ///< compare the calls of all ranks before each collective
  bool deterministic = false;     ///< sums on GPUs follow the tree over rank numbers, as on the CPU
  std::string gpus_per_worker;    ///< "auto" or a number; "" is the same as "auto"
};

/// A plug-in that opens communicators for host memory: one file in comm/backends. "auto" takes the available backend with
/// the highest preference; a backend with preference 0 is used only if it is requested by name. Memory on GPUs is reduced
/// by the plug-ins in comm/gpu_backends, which wrap a communicator of a Backend.
struct Backend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Returns the reason why the backend cannot be used for this launch, or "" if it can.
  std::string (*why_unavailable)(const launch::Launch&);
  std::unique_ptr<Communicator> (*open)(launch::Launch&, const CommOptions&);
  /// Returns details about how the ranks communicate, for backend_description(), or "". May be nullptr.
  std::string (*details)(const World&) = nullptr;
};

/// Returns all backends for host memory.
PluginTable<Backend> backend_table();

/// The backend that a name requests. At most one member is set; both are nullptr for "" and "auto". If only `gpu` is set,
/// the best backend is used for host memory.
struct RequestedBackends {
  const Backend* host = nullptr;
  const GpuBackend* gpu = nullptr;
};
/// Finds a backend by name in both tables. Throws UnknownBackend, which lists the valid names, if no backend has that name.
RequestedBackends find_backends(const std::string& name);

/// Returns the available backend with the highest preference. Throws UsageError if no backend is available.
const Backend& best_backend(const launch::Launch& launch);

/// Opens the requested backend for host memory, or the best one, and completes the topology of launch.world(). Collective.
/// Throws BackendRefused if the requested backend cannot be used.
std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options);

/// Wraps a communicator so that the calls of all ranks are compared before each collective. If kind, size, type, operation,
/// root or name differ, every rank throws an Error that names both calls. Debug builds always check.
std::unique_ptr<Communicator> checked(std::unique_ptr<Communicator> communicator);

/// Returns the node number of each rank. Nodes are numbered from 0 in the order of their lowest rank. Collective.
std::vector<int> nodes_of_ranks(Communicator& communicator);

/// Sets `world.node_of_rank`, if the launcher did not, and the values that are derived from it. Collective.
void complete_topology(World& world, Communicator& communicator);

/// Returns the name of the communicator's backend and how its ranks communicate, for example
/// "node: in shared memory, MPI between nodes".
std::string backend_description(const World& world, const Communicator& communicator);

}  // namespace trainrt::comm
