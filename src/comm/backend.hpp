#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>

#include "core/plugin.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

struct CommOptions {
  double timeout_seconds = 1800;  ///< failure.collective_timeout
  std::string backend;            ///< scaling.backend: a name; "" or auto takes the best
  bool check = false;             ///< scaling.check: compare the ranks' calls before each one
  bool deterministic = false;     ///< scaling.deterministic: the one tree on the GPU too
  std::string gpus_per_worker;    ///< scaling.gpus_per_worker: auto or a number
};

/// A plug-in: one file in comm/backends. The one with the highest preference that nothing stands in the way of is taken,
/// one of preference 0 only by its name.
struct Backend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Why it cannot serve this launch; "" if it can.
  std::string (*obstacle)(const launch::Launch&);
  std::unique_ptr<Communicator> (*open)(launch::Launch&, const CommOptions&);
};

PluginTable<Backend> backend_table();

/// The backend of that name; nullptr for "" and auto. UsageError, with those there are, for a name that is none.
const Backend* find_backend(const std::string& name);

/// What auto takes.
const Backend& best_backend(const launch::Launch& launch);

/// Opens the backend that is asked for, or the best one, and completes the launch's world. UsageError if the one that is
/// asked for cannot serve.
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
