#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>

#include "core/plugin.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

struct CommOptions {
  double timeout_seconds = 1800;  ///< failure.collective_timeout
};

/// A plug-in: one file in comm/backends. The viable one with the highest preference is taken.
struct Backend {
  std::string_view name;
  std::string_view help;
  int preference;
  bool (*viable)(const launch::Launch&);
  std::unique_ptr<Communicator> (*open)(launch::Launch&, const CommOptions&);
};

PluginTable<Backend> backend_table();

/// Opens the best viable backend and completes world().node_of_rank where the launcher could not tell it.
std::unique_ptr<Communicator> open_communicator(launch::Launch& launch, const CommOptions& options);

/// The node of each rank, found by asking all: nodes are numbered from 0 by their lowest rank. Collective.
std::vector<int> nodes_of_ranks(Communicator& communicator);

}  // namespace trainrt::comm
