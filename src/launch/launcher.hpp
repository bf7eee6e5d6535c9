#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/environment.hpp"
#include "core/plugin.hpp"
#include "launch/world.hpp"

namespace trainrt::launch {

/// How long the ranks wait for each other while they start.
struct LaunchOptions {
  double timeout_seconds = 20;
  /// A directory that all nodes share, "" if none is known: if ranks are missing, those that are there sign up in it,
  /// to find out who is not. Nothing is written while all is well, and nothing stays.
  std::string shared_dir;
  /// MPI is the program's own: the launcher's end follows its MPI_Finalize, and nobody calls finalize().
  bool ends_with_mpi = false;
};

/// This process's tie to whatever started it; lives as long as the program runs.
class Launch {
 public:
  virtual ~Launch() = default;

  const World& world() const { return world_; }
  World& world() { return world_; }

  /// Around MPI_Init: what the launcher must offer to MPI, and tidy up afterwards.
  virtual void before_mpi() {}
  virtual void after_mpi() {}
  /// True if a process that has initialized MPI may end without MPI_Finalize: nobody else takes note of MPI's end.
  virtual bool may_leave_mpi() const { return false; }

  /// Ends every process of the step with this code; from any thread. Does not return if the launcher can do it. It may
  /// drop what this rank has just said: let_words_arrive().
  virtual void abort(int code) noexcept = 0;

  /// The orderly end: all ranks leave together. After MPI_Finalize, if MPI was started.
  virtual void finalize() {}

 protected:
  World world_;
};

/// A plug-in: one file in launch/launchers. The viable one with the highest preference is taken.
struct Launcher {
  std::string_view name;
  std::string_view help;
  int preference;
  bool (*viable)(const Environment&);
  std::unique_ptr<Launch> (*open)(const Environment&, const LaunchOptions&);
};

PluginTable<Launcher> launcher_table();

/// Finds the ranks. In a shell that is a Slurm step (launch/shell_step.hpp) there is one, and the step's variables leave
/// the environment. UsageError if the launch promised more ranks than it made, or if a batch shell of several tasks started
/// the program without srun: never N lonely runs.
std::unique_ptr<Launch> discover(const Environment& environment, const LaunchOptions& options);

/// This process's rank as the environment claims it, before anything is started: for saying things once. 0 when unknown.
int claimed_rank(const Environment& environment);

}  // namespace trainrt::launch
