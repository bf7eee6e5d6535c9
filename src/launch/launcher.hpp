#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.hpp"
#include "core/plugin.hpp"
#include "launch/world.hpp"

namespace trainrt::launch {

struct LaunchOptions {
  double timeout_seconds = 20;  ///< number of seconds that the ranks wait for each other at the start
  /// Directory that all nodes share; "" if unknown. Used only if ranks are missing at the start: the ranks that did
  /// start then create temporary files in the directory, from which they find the numbers of the missing ranks.
  std::string shared_dir;
  /// True if the program itself starts and finalizes MPI. The connection to the launcher is then finalized when the program
  /// calls MPI_Finalize, and Launch::finalize() is not called.
  bool ends_with_mpi = false;
};

/// The connection of this process to the launcher (srun, mpiexec ...) that started it. The object must live until the
/// process ends.
class Launch {
 public:
  virtual ~Launch() = default;

  const World& world() const { return world_; }
  World& world() { return world_; }

  /// Prepares the environment variables in which MPI finds the launcher. Must be called directly before MPI_Init.
  virtual void before_mpi() {}
  /// Removes the launcher's environment variables, which child processes would inherit. Must be called directly after
  /// MPI_Init, or when the ranks are connected without MPI.
  virtual void after_mpi() {}
  /// Returns whether the launcher supports gather(). The result is the same on all ranks.
  virtual bool can_gather() const { return false; }
  /// Returns the `text` of every rank, in rank order, exchanged by the launcher and without MPI. The texts may contain any
  /// bytes, and should be short. Requires can_gather(). Must not be called while MPI is initialized. Collective. Throws
  /// Error if another rank fails.
  virtual std::vector<std::string> gather(const std::string& text) { return {text}; }
  /// Returns whether a process that has called MPI_Init may exit without MPI_Finalize; false if the launcher would treat
  /// such an exit as a failure.
  virtual bool may_skip_mpi_finalize() const { return false; }
  /// Returns whether MPI_Finalize can succeed; false if it would wait for an answer of a launcher that has died. MPI would
  /// then print errors, and end the process.
  virtual bool can_finalize_mpi() const { return true; }

  /// Ends all processes of the job step with exit code `code`; does not return. Thread-safe. Output that the launcher has
  /// not forwarded yet may be lost: see wait_for_output_delivery().
  virtual void abort(int code) noexcept = 0;

  /// Disconnects this process from its launcher without ending other ranks. Collective. If MPI was started, this function
  /// must be called after MPI_Finalize.
  virtual void finalize() {}

 protected:
  World world_;
};

/// A launcher plug-in: connects ranks that were started in one particular way, such as by srun or mpiexec. Each plug-in is
/// one file in launch/launchers. discover() uses the viable plug-in with the highest preference.
struct Launcher {
  std::string_view name;
  std::string_view help;
  int preference;
  bool (*viable)(const Environment&);
  std::unique_ptr<Launch> (*open)(const Environment&, const LaunchOptions&);
};

PluginTable<Launcher> launcher_table();

/// Connects this process to the launcher that started it; returns the connection with its World (rank and size). Collective
/// over the ranks of the job step. In an interactive shell that is itself a Slurm job step (launch/shell_step.hpp) the
/// World has one rank, and the variables of the job step are removed from the environment. Throws UsageError in these
/// cases:
/// - fewer ranks are connected than the environment requests
/// - the batch shell of a job with several tasks started the program without srun
/// - no launcher plug-in is viable
std::unique_ptr<Launch> discover(const Environment& environment, const LaunchOptions& options);

/// Returns this process's rank according to the launcher's environment variables, or 0 if they name no rank. May be called
/// before discover(), to print a message on one rank only.
int claimed_rank(const Environment& environment);

/// Returns this process's rank within its node according to the launcher's environment variables, or `world.rank` if they
/// do not name one. Used to print a message once per node.
int claimed_local_rank(const World& world, const Environment& environment);

/// Returns the number of ranks on this node, from `world` and the launcher's environment variables. Returns nullopt if the
/// ranks must communicate to determine the number. The result is `world.size` if all ranks run on one node.
std::optional<int> ranks_on_this_node(const World& world, const Environment& environment);

}  // namespace trainrt::launch
