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
  double timeout_seconds = 1800;  ///< timeout of a collective: how long it waits for the other ranks
  std::string backend;            ///< name of a Backend or GpuBackend; "" or "auto" chooses the best available one
  bool check = false;             ///< whether to compare the calls of all ranks before each collective
  /// Whether sums on GPUs follow the fixed tree over rank numbers, so that they have the same bits as on the CPU.
  bool deterministic = false;
  std::string gpus_per_worker;  ///< "auto" or a number; "" is the same as "auto"
};

/// A plug-in that opens communicators for host memory. Each plug-in is one file in comm/backends. The option "auto" selects
/// the available backend with the highest preference; a backend with preference 0 is used only if it is requested by name.
/// GPU memory is reduced by the plug-ins in comm/gpu_backends, which wrap a communicator of a Backend.
struct Backend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Returns the reason why the backend cannot be used for the ranks of `launch`, or "" if it can be used.
  std::string (*why_unavailable)(const launch::Launch&);
  std::unique_ptr<Communicator> (*open)(launch::Launch&, const CommOptions&);
  /// Returns a description of how the ranks communicate, for backend_description(), or "". The function pointer may be
  /// nullptr.
  std::string (*details)(const World&) = nullptr;
};

/// Returns all backends for host memory.
PluginTable<Backend> backend_table();

/// The plug-in that find_backends() found for a backend name. At most one member is set; both are nullptr for the names ""
/// and "auto". If only `gpu` is set, best_backend() is used for host memory.
struct RequestedBackends {
  const Backend* host = nullptr;
  const GpuBackend* gpu = nullptr;
};
/// Finds a backend by name among the backends for host memory and the GPU backends. Throws UnknownBackend, which lists the
/// valid names, if no backend has that name.
RequestedBackends find_backends(const std::string& name);

/// Returns the available backend for host memory with the highest preference. Throws UsageError if no backend is available.
const Backend& best_backend(const launch::Launch& launch);

/// Opens a communicator for host memory with the requested backend, or with the best one if no host backend is requested by
/// name. Also completes the topology (node numbers) in launch.world(). Collective. Throws BackendRefused if the requested
/// backend cannot be used.
std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options);

/// Wraps a communicator so that the calls of all ranks are compared before each collective. If the kind, size, type,
/// operation, root or name of the calls differs, every rank throws an Error that names both calls. In debug builds
/// open_communicator() always does this.
std::unique_ptr<Communicator> checked(std::unique_ptr<Communicator> communicator);

/// Returns the node number of each rank. Nodes are numbered from 0 in the order of their lowest rank. Collective.
std::vector<int> nodes_of_ranks(Communicator& communicator);

/// Sets `world.node_of_rank`, the node number of each rank, if the launcher did not set it. Also sets the fields of `world`
/// that are derived from the node numbers. Collective.
void complete_topology(World& world, Communicator& communicator);

/// Returns the name of the communicator's backend and a description of how its ranks communicate, for example "node: in
/// shared memory, MPI between nodes".
std::string backend_description(const World& world, const Communicator& communicator);

}  // namespace trainrt::comm
