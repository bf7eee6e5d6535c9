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

/// Options with which Child starts a process.
struct ChildPlan {
  SpawnOptions start;                   ///< program, environment, input and inherited files; Child sets the rest
  int stop_signal = 0;                  ///< signal that stop() sends; the child starts with the other stop signals ignored
  std::optional<OutputTargets> output;  ///< targets of the child's output; empty: the child inherits our output streams
  std::string title;                    ///< title of this start in the log: "attempt 3, rank 1 on n2"
};

/// A child process in its own process group. A thread of this process reads the output of the child. The child inherits
/// only the files that ChildPlan names. The kernel kills the child when the thread that started it exits. When this
/// process exits, a guard process kills the group of the child, which may contain several processes of a script or
/// pipeline, and its stray processes. Only the thread that constructed the object may call its functions.
class Child {
 public:
  explicit Child(const ChildPlan& plan);  ///< throws Error if the process cannot be started
  ~Child();                               ///< kills the group and the stray processes, and reads the remaining output
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Returns the path of the program that was started, such as "/usr/bin/python3", as it was found in PATH.
  const std::string& executable() const { return executable_; }
  /// Returns the status with which the first process of the group ended, or nothing while the first process runs. Does
  /// not wait.
  const std::optional<ExitStatus>& exit_status();
  double exit_age_s() const;  ///< returns the seconds since the first process ended; 0 while it runs
  bool ended_by_stop_signal() { return exit_status() && exit_status()->signal == stop_signal_; }
  /// Returns whether the program has ended. Usually, the program has ended when the first process of the group has
  /// ended. Exception: if the stop signal ended the first process, this process may have been a script around a program
  /// that is still saving. The program has then ended when neither a process of the group nor the process passed to
  /// note_client() is running. Stray processes do not count.
  bool is_over();
  /// Declares that the process with this pid uses trainrt's client. In a container, the pid is the one in the
  /// container's pid namespace.
  void note_client(pid_t process) { client_ = process; }
  pid_t client() const { return client_; }  ///< 0 if unknown
  /// Sends the stop signal to the processes that first_to_catch() returns, or to the group if no process catches the
  /// signal.
  void stop() const;
  /// Sends the stop signal to the remaining processes of the group. Does nothing if one of them catches the signal, since
  /// stop() has then signalled each process that must get it. Call after the stop signal has ended the first process.
  void stop_rest() const;
  /// Returns a text that lists the running processes of the group, and the client if it runs: "123 (sleep 300), 124 (sh -c
  /// ...)". Precondition: the first process has ended.
  std::string survivors_in_words() const;
  /// Returns a text that lists the stray processes, which the destructor will kill; "" if no process is stray.
  std::string strays_in_words() const;
  /// Returns the last bytes of the output so far, after a short wait for bytes in the pipes; "" if the output is not
  /// read.
  std::string output_tail() const;
  std::shared_ptr<OutputTee> output() const { return output_; }  ///< returns null if the child's output is not read
  std::uint64_t output_bytes() const;                            ///< number of bytes of the output read so far
  /// Waits at most `seconds` for the end of the started process, but not of its children. Returns whether it has ended.
  bool ends_within(double seconds);

 private:
  void start_guard();
  void note_exit(int status, std::uint64_t held_bytes);
  std::vector<pid_t> survivors() const;

  std::string executable_;
  pid_t pid_ = -1;
  pid_t guard_ = -1;     ///< shell that waits until this process exits, then kills the group and the stray processes
  Descriptor lifeline_;  ///< write end of a pipe; when it is closed, the guard knows that this process has exited
  int stop_signal_ = 0;
  pid_t client_ = 0;  ///< 0 if unknown
  bool is_over_ = false;
  double next_check_s_ = 0;  ///< time of the next call of survivors(), by monotonic_seconds()
  StrayProcesses strays_;
  MemoryKills memory_kills_ = memory_kills();  ///< counts of kills before the start of the child
  std::shared_ptr<OutputTee> output_;
  std::optional<ExitStatus> exit_status_;
  std::unique_ptr<ExitWatch> exit_watch_;
};

}  // namespace program

}  // namespace trainrt
