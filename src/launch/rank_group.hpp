#pragma once
#include <memory>
#include <string>
#include <vector>

namespace trainrt::launch {

/// How many seconds the ranks of a RankGroup wait for a rank that is missing at a barrier of MPI's start or end. Then the
/// missing ranks are logged, and the group ends with exit code 70.
struct GroupLimits {
  double start_s = 20;    ///< for a rank that has not reached its first barrier
  double later_s = 1800;  ///< for a rank that has reached a barrier before
};

/// The result of a RankGroup that has ended.
struct GroupEnd {
  int exit_code = 0;  ///< 0 if all ranks succeeded, else the code of the first failed rank; 128 + N after signal N
  int rank = -1;      ///< the first failed rank; -1 if all ranks succeeded
};

/// The standard input of the ranks of a RankGroup. The caller owns and closes `fd`.
struct GroupInput {
  int fd = -1;              ///< standard input of rank 0; the other ranks read /dev/null. -1: all ranks read /dev/null
  bool is_for_all = false;  ///< `fd` is a file, which each rank reads from its beginning
};

/// The ranks of a step on this node: processes of one program, which this process starts and serves PMI-1 to, as mpiexec
/// does. They inherit its standard output and error. Each has its own process group, so terminal signals reach the ranks
/// only through signal(). If this process dies the ranks get SIGTERM, on which a run stops and saves.
///
/// If a rank calls MPI_Abort, all ranks are killed at once, and its code is the exit code of the group. If a rank exits
/// without MPI_Finalize, the others are killed 3 s later. All functions must be called from one thread.
class RankGroup {
 public:
  /// Starts `size` processes of `command`; its first word is the path of the program. Throws Error if a process cannot be
  /// started; the processes that were started are killed.
  RankGroup(const std::vector<std::string>& command, int size, const GroupLimits& limits, GroupInput input = {});
  ~RankGroup();  ///< kills the ranks that are still running
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  void signal(int number) const;  ///< sends signal `number` to all ranks that are still running
  /// Collects ranks that have exited, kills the others if necessary, and returns whether all have exited. Does not block.
  /// Must be called every 100 ms, and after SIGCHLD.
  bool ended();
  GroupEnd end() const;  ///< requires that ended() has returned true

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt::launch
