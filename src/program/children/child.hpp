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
#include "program/children/end_watch.hpp"
#include "program/children/ending.hpp"
#include "program/children/leftovers.hpp"

namespace trainrt {

class OutputTee;

namespace program {

/// How a child is started.
struct ChildPlan {
  SpawnOptions start;                   ///< program, environment, input, inherited files; Child sets the rest
  int stop_signal = 0;                  ///< has its default action; the other stop signals are ignored
  std::optional<OutputTargets> output;  ///< targets of its output; without them it inherits this process's streams
  std::string title;                    ///< title of this start in the output's log: "attempt 3, rank 1 on n2"
};

/// A child process in its own process group, whose output is read by a thread of this process. It inherits only the files
/// of ChildPlan, and is killed when the thread that started it ends. When this process ends, all processes of the group (a
/// script or pipeline has several) and those that left the group (Leftovers) are killed. Only the thread that started it
/// may use it.
class Child {
 public:
  explicit Child(const ChildPlan& plan);  ///< throws Error if it cannot be started
  ~Child();                               ///< kills the group and what has left it, and reads the rest of its output
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Does not wait. Nothing while it runs.
  const std::optional<Ending>& ending();
  double end_age_s() const;  ///< seconds since it ended; 0 while it runs
  bool ended_by_stop_signal() { return ending() && ending()->signal == stop_signal_; }
  /// Returns whether the program has ended, and not only its first process: that one may be a script around the program,
  /// which the stop signal ends while the program saves. Then it is over when no process of its group runs any more, nor
  /// the one that note_client() named. A process that has left the group does not count.
  bool is_over();
  /// `process` uses the client, by what it says of itself.
  void note_client(pid_t process) { client_ = process; }
  void stop() const;  ///< by the stop signal, to whom first_to_catch() names, else to the whole group
  /// The first process has ended by the stop signal: sends it to the rest of its group if none of them catches it.
  void stop_rest() const;
  /// Names the processes that keep is_over() false, "123 (sleep 300), 124 (sh -c ...)", of a first process that has ended.
  std::string survivors_in_words() const;
  /// The same of those that have left the group and that the destructor kills; "" if there are none.
  std::string strays_in_words() const;
  /// The end of its output so far; waits a moment for what is in the pipes. "" if its output is not read.
  std::string output_tail() const;
  std::shared_ptr<OutputTee> output() const { return output_; }  ///< nullptr if its output is not read
  std::uint64_t output_bytes() const;                            ///< how many were read so far
  /// False if it still runs after so long.
  bool ends_within(double seconds);

 private:
  void start_guard();
  void note_end(int status, std::uint64_t held_bytes);
  std::vector<pid_t> survivors() const;

  pid_t pid_ = -1;
  pid_t guard_ = -1;     ///< a shell that waits for the end of this process, and ends the group and what has left it
  Descriptor lifeline_;  ///< write end of a pipe; its closing tells the guard that this process exited
  int stop_signal_ = 0;
  pid_t client_ = 0;  ///< 0: not known
  bool is_over_ = false;
  double next_look_s_ = 0;  ///< by monotonic_seconds(): when is_over() looks for survivors again
  Leftovers leftovers_;
  MemoryKills memory_kills_ = memory_kills();  ///< before the start
  std::shared_ptr<OutputTee> output_;
  std::optional<Ending> ending_;
  std::unique_ptr<EndWatch> watch_;
};

}  // namespace program

}  // namespace trainrt
