#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/descriptor.hpp"
#include "core/output/output_targets.hpp"
#include "core/process/memory.hpp"
#include "core/process/spawn.hpp"
#include "program/children/exit_status.hpp"
#include "program/children/exit_watch.hpp"
#include "program/children/stray_processes.hpp"

namespace trainrt {

class OutputTee;

namespace program {

/// How to start a child process.
struct ChildPlan {
  SpawnOptions start;                   ///< program, environment, input, inherited files; Child sets the other options
  int stop_signal = 0;                  ///< has its default action in the child, which ignores the other stop signals
  std::optional<OutputTargets> output;  ///< targets of the output; if not set, the child inherits this process's streams
  std::string title;                    ///< title of this start in the log of the output: "attempt 3, rank 1 on n2"
};

/// A child process in its own process group. A thread of this process reads its output. The child inherits only the files
/// that ChildPlan names. It is killed when the thread that started it exits. When this process exits, a guard process kills
/// the group (a script or pipeline has several processes) and the stray processes. All functions must be called by the
/// thread that constructed the object.
class Child {
 public:
  explicit Child(const ChildPlan& plan);  ///< throws Error if the program cannot be started
  ~Child();                               ///< kills the group and the stray processes, and reads the rest of the output
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Returns how the first process ended, or nothing while it runs. Does not wait.
  const std::optional<ExitStatus>& exit_status();
  double exit_age_s() const;  ///< seconds since the first process ended; 0 while it runs
  bool ended_by_stop_signal() { return exit_status() && exit_status()->signal == stop_signal_; }
  /// Returns whether the program has ended. Usually this is the end of its first process. If the stop signal ended that
  /// process, it may have been a script around a program that is still saving: then the program has ended when no process
  /// of its group and no process passed to note_client() runs any more. Stray processes do not count.
  bool is_over();
  /// Declares that `process` uses the client. The pid is that in its own pid namespace.
  void note_client(pid_t process) { client_ = process; }
  pid_t client() const { return client_; }  ///< 0 if unknown
  void stop() const;  ///< sends the stop signal to the processes that first_to_catch() returns, or to the group
  /// Sends the stop signal to the group, after its first process was ended by it, if no process of the group catches it.
  void stop_rest() const;
  /// Returns the processes that keep is_over() false: "123 (sleep 300), 124 (sh -c ...)". The first process has ended.
  std::string survivors_in_words() const;
  /// Returns the stray processes, which the destructor kills; "" without any.
  std::string strays_in_words() const;
  /// Returns the end of the output so far, after a short wait for bytes in the pipes. "" if the output is not read.
  std::string output_tail() const;
  std::shared_ptr<OutputTee> output() const { return output_; }  ///< null if the output is not read
  std::uint64_t output_bytes() const;                            ///< number of bytes read so far
  /// Waits until the first process has ended, for at most `seconds`. Returns whether it has.
  bool ends_within(double seconds);

 private:
  void start_guard();
  void note_exit(int status, std::uint64_t held_bytes);
  std::vector<pid_t> survivors() const;

  pid_t pid_ = -1;
  pid_t guard_ = -1;     ///< shell that waits for the end of this process, then kills the group and the stray processes
  Descriptor lifeline_;  ///< write end of a pipe; its closing notifies the guard that this process exited
  int stop_signal_ = 0;
  pid_t client_ = 0;  ///< 0 if unknown
  bool is_over_ = false;
  double next_check_s_ = 0;  ///< time of the next search for survivors, by monotonic_seconds()
  StrayProcesses strays_;
  MemoryKills memory_kills_ = memory_kills();  ///< counts before the start
  std::shared_ptr<OutputTee> output_;
  std::optional<ExitStatus> exit_status_;
  std::unique_ptr<ExitWatch> exit_watch_;
};

}  // namespace program

}  // namespace trainrt
