#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/environment.hpp"
#include "core/plugin.hpp"
#include "launch/world.hpp"

namespace trainrt::launch {

struct LaunchOptions {
  double timeout_seconds = 20;  ///< how long ranks wait for each other at the start
  /// Directory that all nodes share; "" if unknown. If ranks are missing at the start, the ranks that did start create
  /// temporary files in it to find the numbers of the missing ones. Otherwise nothing is written.
  std::string shared_dir;
  /// True if the program itself starts and finalizes MPI. The launcher then finalizes when the program calls
  /// MPI_Finalize, and Launch::finalize() is not called.
  bool ends_with_mpi = false;
};

/// The connection of this process to the launcher that started it. Must live until the process ends.
class Launch {
 public:
  virtual ~Launch() = default;

  const World& world() const { return world_; }
  World& world() { return world_; }

  /// Must be called directly before MPI_Init: prepares the environment in which MPI finds the launcher.
  virtual void before_mpi() {}
  /// Must be called directly after MPI_Init: removes the launcher's variables from the environment, which child processes
  /// would inherit.
  virtual void after_mpi() {}
  /// Returns whether a process that has called MPI_Init may exit without MPI_Finalize. False if the launcher would treat
  /// that as a failure.
  virtual bool may_skip_mpi_finalize() const { return false; }

  /// Ends all processes of the step with exit code `code`. Any thread may call it. It does not return. Output that the
  /// launcher has not forwarded yet may be lost: see wait_for_output_delivery().
  virtual void abort(int code) noexcept = 0;

  /// Disconnects this process from its launcher without ending other ranks. Collective. If MPI was started, it must be
  /// called after MPI_Finalize.
  virtual void finalize() {}

 protected:
  World world_;
};

/// A launcher plug-in: one file in launch/launchers. discover() takes the viable launcher with the highest preference.
struct Launcher {
  std::string_view name;
  std::string_view help;
  int preference;
  bool (*viable)(const Environment&);
  std::unique_ptr<Launch> (*open)(const Environment&, const LaunchOptions&);
};

PluginTable<Launcher> launcher_table();

/// Connects to the launcher of this process, and returns the connection with its World. Collective over the ranks of the
/// step. In a shell that is itself a Slurm step (launch/shell_step.hpp) the World has one rank, and the variables of the
/// step are removed from the environment. Throws UsageError if the World is smaller than the launch requested, or if the
/// batch shell of a job with several tasks started the program without srun.
std::unique_ptr<Launch> discover(const Environment& environment, const LaunchOptions& options);

/// Returns the rank that the environment names, or 0 if it names no rank. It may be called before discover(), to print a
/// message on one rank only.
int claimed_rank(const Environment& environment);

/// Returns the rank within this node that the environment names, or `world.rank` if it does not name one. Used to print a
/// message once per node.
int claimed_local_rank(const World& world, const Environment& environment);

/// Returns the number of ranks on this node according to `world` and the launcher's variables, or nullopt if only
/// communication between the ranks can determine it. The result is `world.size` if one node has all ranks.
std::optional<int> ranks_on_this_node(const World& world, const Environment& environment);

}  // namespace trainrt::launch
