#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"
#include "core/plugin.hpp"
#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// An environment variable of a program.
struct Variable {
  std::string name;
  std::string value;
  bool is_default = false;  ///< true: a value that the user has set takes precedence; false: the value is always replaced
};

/// Ranks for which a port is reserved.
enum class PortsOf { nobody, first_rank, every_rank };

/// A plug-in: one file in program/environments/frameworks. Defines the environment variables with which an unchanged script
/// of a framework joins the other ranks, besides RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK, which every
/// program gets. No two frameworks set the same variable.
struct FrameworkEnvironment {
  std::string_view name;
  std::string_view help;  ///< the variables, and the functions that read them
  PortsOf ports_of;
  /// Returns the variables. `ports` has the port of each rank, 0 for ranks without one; empty for PortsOf::nobody. Pure.
  std::vector<Variable> (*variables)(const Rendezvous& rendezvous, std::span<const int> ports);
  /// Null, or starts the service of the runtime for this framework, on every rank. `rendezvous` is complete except for its
  /// sockets. `listener` listens on this rank's port, and is empty if the rank has no port. Returns null if this rank needs
  /// no service.
  std::unique_ptr<Service> (*serve)(const Rendezvous& rendezvous, std::span<const int> ports,
                                    Descriptor listener) = nullptr;
};

PluginTable<FrameworkEnvironment> environment_table();

using Frameworks = std::vector<const FrameworkEnvironment*>;

/// Returns the frameworks with these names; {"all"} selects all. Throws UsageError for an unknown or repeated name.
Frameworks chosen_frameworks(std::span<const std::string> names);

}  // namespace trainrt::program
