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

struct CommOptions {
  double timeout_seconds = 1800;  ///< how long a collective waits for ranks
  std::string backend;            ///< a name of a Backend or GpuBackend; "" or auto takes the best
  bool check = false;             ///< compare the ranks' calls before each one
  bool deterministic = false;     ///< the one tree on the GPU too
  std::string gpus_per_worker;    ///< auto or a number; "" is auto
};

/// A plug-in: one file in comm/backends. The one with the highest preference that nothing stands in the way of is taken,
/// one of preference 0 only by its name. GPUs have plug-ins of their own, which are put on these: comm/gpu_backends.
struct Backend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Why it cannot serve this launch; "" if it can.
  std::string (*obstacle)(const launch::Launch&);
  std::unique_ptr<Communicator> (*open)(launch::Launch&, const CommOptions&);
  /// What it does for ranks that are placed so, for the line that names it; "" if there is nothing to say, nullptr if
  /// never.
  std::string (*explained)(const World&) = nullptr;
};

PluginTable<Backend> backend_table();

/// What a name asks for: a backend of the host, or one of GPUs (then the host's is the best), or neither, for "" and auto.
struct AskedBackends {
  const Backend* host = nullptr;
  const GpuBackend* gpu = nullptr;
};
/// UnknownBackend, with those there are, for a name that is none.
AskedBackends backends_of_name(const std::string& name);

/// What auto takes for the host.
const Backend& best_backend(const launch::Launch& launch);

/// Opens the host's backend that is asked for, or the best one, and completes the launch's world. BackendRefused if the one
/// that is asked for cannot serve.
std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options);

/// Compares the ranks' calls before each one: other kinds, sizes, types, operations or names throw an Error on all ranks
/// that says who came with what. Debug builds always do.
std::unique_ptr<Communicator> checked(std::unique_ptr<Communicator> communicator);

/// The node of each rank, found by asking all: nodes are numbered from 0 by their lowest rank. Collective.
std::vector<int> nodes_of_ranks(Communicator& communicator);

/// Fills in where the ranks are, if the launcher could not tell. Collective.
void complete_topology(World& world, Communicator& communicator);

/// What the ranks talk over, and why that: "node: in shared memory, MPI between nodes".
std::string choice_explained(const World& world, const Communicator& communicator);

}  // namespace trainrt::comm
