#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trainrt::launch {

/// The environment variable by which a rank of a RankGroup recognizes that its PMI-1 server is a RankGroup, and its value.
inline constexpr const char* rank_group_variable = "PMI_SERVER";
inline constexpr const char* rank_group_name = "trainrt";

/// Timeouts of a RankGroup for the barriers at the start of the ranks and in MPI_Finalize. If a rank does not reach a
/// barrier in time, the missing ranks are logged, and the group ends with exit code 70.
struct GroupLimits {
  double start_s = 20;    ///< timeout in seconds for the first barrier
  double later_s = 1800;  ///< timeout in seconds for later barriers
  /// Returns whether the run can continue from copies of the State in memory. If true, the other ranks are killed at once
  /// after a rank has exited early, since they need not save. Not set: the other ranks always get time to save.
  std::function<bool()> has_copies = {};
};

/// The result of a RankGroup (all ranks of a run on one node) after all ranks have exited.
struct GroupEnd {
  int exit_code = 0;  ///< exit code of the first failed rank, 128 + N after signal N; 0 if all ranks succeeded
  int rank = -1;      ///< number of the first failed rank; -1 if all ranks succeeded
};

/// The standard input that a RankGroup gives to its ranks. The caller owns and closes `fd`.
struct GroupInput {
  /// File descriptor of rank 0's standard input; -1: /dev/null. Unless `is_for_all` is true, the other ranks read
  /// /dev/null.
  int fd = -1;
  bool is_for_all = false;  ///< true if `fd` is a regular file that each rank reads from its beginning
};

/// A group of ranks on this node: processes of one program, which this process starts. As mpiexec does, this process serves
/// the PMI-1 protocol to each rank: to its PmiClient and to its MPI. All functions must be called from one thread.
/// - The ranks inherit the standard output and error of this process.
/// - Each rank has its own process group, so terminal signals reach the ranks only through signal().
/// - If this process dies, each rank gets SIGTERM (or another stop signal if SIGTERM is ignored), on which a run saves and
///   stops.
/// - If a rank calls MPI_Abort or PmiClient::abort(), all ranks are killed at once, and the code of that call is the exit
///   code of the group.
/// - If a rank exits without MPI_Finalize or PmiClient::finalize(), the other ranks are killed 3 s later,
///   or at once if GroupLimits::has_copies.
class RankGroup {
 public:
  enum class Start {
    at_once,
    as_standby  ///< the processes wait until begin() is called; they must call wait_if_standby()
  };
  /// Starts `size` processes of `command`, of which the first word is the path of the program. Throws Error if a process
  /// or its thread cannot be started; the processes that were already started are killed.
  RankGroup(const std::vector<std::string>& command, int size, const GroupLimits& limits, GroupInput input = {},
            Start start = Start::at_once);
  /// Kills the ranks that are still running, and waits until they have ended; for a standby at most 1 s.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// Lets the processes of a standby begin. Changes of this process's environment since their start are sent to them.
  void begin();
  /// Returns whether all processes of the group are running.
  bool is_complete();
  void signal(int number) const;  ///< sends signal `number` to all ranks that are still running
  /// Collects the exit codes of ranks of the group that have exited, kills the other ranks if necessary, and returns
  /// whether all ranks have exited. Does not block. Must be called every 100 ms, and after SIGCHLD.
  bool ended();
  GroupEnd end() const;  ///< returns the result of the group; requires that ended() has returned true
  /// Returns the number of the first rank that another process has ended by SIGKILL; -1 if there is none.
  int killed_rank() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt::launch
