#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/process/child_environment.hpp"

namespace trainrt::program {

/// Finds and kills the processes that a program has started. They include processes that have left the program's
/// process group (setsid) and do not get signals that are sent to the group. The class finds them as descendants of the
/// program, and by an environment variable, the mark. It cannot find a process whose parent has exited and whose
/// environment was replaced. If the program submits another Slurm job, the processes of this job may have the mark;
/// they are not killed, since their SLURM_JOB_ID differs.
class StrayProcesses {
 public:
  StrayProcesses();

  /// Adds the mark, the variable TRAINRT_PROGRAM_ID, to the environment of the program.
  void add_mark(Variables& environment) const { environment[mark_variable] = nonce_; }
  /// Returns the mark with the name of its variable: "TRAINRT_PROGRAM_ID=...".
  std::string mark() const;
  /// Records the current descendants of the process `program`, which must be a running child of this process.
  void note(pid_t program);
  /// Returns the running processes that have the mark, the variable TRAINRT_PROGRAM_ID of this program, in their
  /// environment.
  std::vector<pid_t> running() const;
  /// Kills the recorded descendants, and the processes that have the mark in their environment. Must be called after the
  /// program has exited.
  void kill_all() const;

  /// Returns a POSIX shell command that kills all processes with the mark "$2" in their environment. If "$3" is not
  /// empty, it kills only those whose environment also contains "$3".
  static std::string kill_command();
  /// Returns the variable of this process's Slurm job, "SLURM_JOB_ID=4711"; "" outside of Slurm jobs.
  static std::string job_variable();

 private:
  struct Noted {
    pid_t pid;
    unsigned long long start_time;  ///< distinguishes the process from a later process with an equal pid
  };

  static constexpr const char* mark_variable = "TRAINRT_PROGRAM_ID";

  std::string nonce_;
  std::vector<Noted> noted_;
};

}  // namespace trainrt::program
