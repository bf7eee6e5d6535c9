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

/// An environment variable of a framework, such as MASTER_ADDR of torch, that is set for a program.
struct Variable {
  std::string name;
  std::string value;
  bool is_default = false;  ///< true: a value set by the user takes precedence; false: replaces the user's value
};

/// The ranks for which a framework needs a reserved port.
enum class PortsOf { nobody, first_rank, every_rank };

/// A plug-in for a framework. Each plug-in is one file in program/environments/frameworks. It defines the environment
/// variables with which an unchanged script of the framework joins the other ranks. Every program also gets RANK,
/// WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK. No two frameworks set the same variable.
struct FrameworkEnvironment {
  std::string_view name;
  std::string_view help;  ///< help text: the variables, and the framework's functions that read them
  PortsOf ports_of;
  /// Returns the environment variables of the framework. `ports` contains the port of each rank, 0 for a rank without a
  /// port; it is empty for PortsOf::nobody. Pure function.
  std::vector<Variable> (*variables)(const Rendezvous& rendezvous, std::span<const int> ports);
  /// Starts the runtime's service for this framework. The pointer is null if the framework needs no service. Called on
  /// every rank; returns null on a rank that runs no service. `rendezvous` is complete except for `sockets`. `listener`
  /// is a socket that listens on this rank's port; it is empty if the rank has no port.
  std::unique_ptr<Service> (*serve)(const Rendezvous& rendezvous, std::span<const int> ports,
                                    Descriptor listener) = nullptr;
};

PluginTable<FrameworkEnvironment> environment_table();

using Frameworks = std::vector<const FrameworkEnvironment*>;

/// Returns the frameworks with these names, or all frameworks for {"all"}. Throws UsageError for an unknown or repeated
/// name.
Frameworks chosen_frameworks(std::span<const std::string> names);

}  // namespace trainrt::program
