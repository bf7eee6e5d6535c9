#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"
#include "core/plugin.hpp"
#include "program/rendezvous/meeting.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// An environment variable of a program.
struct Variable {
  std::string name;
  std::string value;
  bool is_choice =
      false;  ///< what the user has set wins; else it is a fact of this attempt, and nothing that was set counts
};

/// Which ranks a port is kept for.
enum class PortsOf { nobody, first_rank, every_rank };

/// A plug-in: one file in program/environments/frameworks. What an unchanged script of that framework finds in its
/// environment, beside RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK, which every program has. No two
/// frameworks set the same variable, and none disturbs another.
struct FrameworkEnvironment {
  std::string_view name;
  std::string_view help;  ///< the variables, and who reads them
  PortsOf ports_of;
  /// Pure. `ports` are of all ranks; 0 for those that have none, empty if nobody has one.
  std::vector<Variable> (*variables)(const Meeting& meeting, std::span<const int> ports);
  /// Null, or starts what the runtime serves, on every rank, once the meeting is known but for its sockets. A rank that a
  /// port is kept for listens on it: `listener`, empty on the others. Null if there is nothing to do.
  std::unique_ptr<Service> (*serve)(const Meeting& meeting, std::span<const int> ports, Descriptor listener) = nullptr;
};

PluginTable<FrameworkEnvironment> environment_table();

using Frameworks = std::vector<const FrameworkEnvironment*>;

/// Those of the names, {"all"} being all of them. UsageError for one that is not there, or is named twice.
Frameworks chosen_frameworks(std::span<const std::string> names);

}  // namespace trainrt::program
