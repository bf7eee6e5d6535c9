#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/process/child_environment.hpp"

namespace trainrt::program {

/// Finds and kills the processes that a program has started, also those that have left its process group (setsid), which no
/// signal to the group reaches. They are found as descendants while their parents live, and by a variable of their
/// environment. A process that has both a parent that has ended and another environment is not found. A job that the
/// program has submitted to Slurm may have the variable too, and is left alone: SLURM_JOB_ID is another.
class Leftovers {
 public:
  Leftovers();

  /// Adds the variable by which the processes of the program are found to the program's environment variables.
  void add_mark(Variables& environment) const { environment[mark_variable] = nonce_; }
  /// Returns the variable as "TRAINRT_PROGRAM_ID=...".
  std::string mark() const;
  /// Notes the descendants of the program, this process's child, which still runs.
  void note(pid_t program);
  /// Returns the processes that have the mark and run now.
  std::vector<pid_t> running() const;
  /// Kills all of them. The program itself has ended.
  void kill_all() const;

  /// A command of a POSIX shell that kills those with the mark "$2" and, unless it is empty, the variable "$3".
  static std::string kill_command();
  /// "SLURM_JOB_ID=4711" of this process; "" outside of jobs.
  static std::string job_variable();

 private:
  struct Noted {
    pid_t pid;
    unsigned long long start_time;  ///< tells it from another process that gets its number
  };

  static constexpr const char* mark_variable = "TRAINRT_PROGRAM_ID";

  std::string nonce_;
  std::vector<Noted> noted_;
};

}  // namespace trainrt::program
