#pragma once
#include <memory>
#include <string>
#include <vector>

namespace trainrt::launch {

/// How long ranks wait for each other in MPI's start and end, in seconds. Then the missing ones are named, and the group
/// ends with 70.
struct GroupLimits {
  double start_s = 20;    ///< for a rank that has not come at all
  double later_s = 1800;  ///< for one that has come before
};

/// How the ranks of a RankGroup ended, all together.
struct GroupEnd {
  int exit_code = 0;  ///< 0 if all ended well; else that of the first that did not, 128 + N if signal N ended it
  int rank = -1;      ///< that first one
};

/// The standard input of the ranks. The caller keeps and closes `fd`.
struct GroupInput {
  int fd = -1;              ///< of rank 0; -1: none, the ranks get /dev/null
  bool is_for_all = false;  ///< a file, which each rank reads from its beginning
};

/// The ranks of a step on this node: processes of one program that find each other by PMI-1, which this process serves to
/// them, as mpiexec would. They have this process's output, and a process group each, so that a terminal's
/// signals come through signal() only. If this process dies they get SIGTERM: a run stops and saves.
///
/// If a rank calls MPI_Abort all are killed at once, and its code is the group's; if one ends without MPI_Finalize the
/// others are killed 3 s later.
class RankGroup {
 public:
  /// Starts `size` processes of `command`, whose first word is a path. Throws Error if that cannot be done.
  RankGroup(const std::vector<std::string>& command, int size, const GroupLimits& limits, GroupInput input = {});
  ~RankGroup();  ///< kills what still runs
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  void signal(int number) const;  ///< to all that still run
  /// Looks who has ended, and kills those that must not go on. True if all have ended; does not wait. Call it every 100 ms,
  /// and when SIGCHLD comes.
  bool ended();
  GroupEnd end() const;  ///< of a group that has ended

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt::launch
