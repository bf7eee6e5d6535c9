#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/process/child_environment.hpp"

namespace trainrt::program {

/// Finds and kills the processes that a program has started, including those that have left its process group (setsid) and
/// get no signal that is sent to the group. They are found as descendants of the program, and by an environment variable,
/// the mark. A process is not found if its parent has exited and its environment was replaced. Processes of another Slurm
/// job that the program submitted may have the mark too; they are not killed because their SLURM_JOB_ID differs.
class StrayProcesses {
 public:
  StrayProcesses();

  /// Adds the mark to the environment of the program.
  void add_mark(Variables& environment) const { environment[mark_variable] = nonce_; }
  /// Returns the mark as "TRAINRT_PROGRAM_ID=...".
  std::string mark() const;
  /// Records the current descendants of the program, a running child of this process.
  void note(pid_t program);
  /// Returns the running processes that have the mark.
  std::vector<pid_t> running() const;
  /// Kills the recorded and the marked processes. Call it after the program has exited.
  void kill_all() const;

  /// Returns a POSIX shell command that kills the processes with the mark "$2" and, if "$3" is not empty, the variable
  /// "$3".
  static std::string kill_command();
  /// Returns "SLURM_JOB_ID=4711" of this process; "" outside of jobs.
  static std::string job_variable();

 private:
  struct Noted {
    pid_t pid;
    unsigned long long start_time;  ///< distinguishes it from a later process with the same pid
  };

  static constexpr const char* mark_variable = "TRAINRT_PROGRAM_ID";

  std::string nonce_;
  std::vector<Noted> noted_;
};

}  // namespace trainrt::program
