#pragma once
#include <string>

#include <sys/types.h>

namespace trainrt {

/// Return addresses of a thread's calls, innermost first. Plain memory: a signal handler may fill it.
struct StackFrames {
  static constexpr int most = 96;
  int count = 0;
  bool interrupted = false;  ///< the first is where a signal met the thread, not where a call returns to
  void* addresses[most] = {};

  /// An address within what frame `i` is at. A return address may be the first of the next function: the call is before it.
  const void* code_at(int i) const noexcept {
    return static_cast<const char*>(addresses[i]) - (i == 0 && interrupted ? 0 : 1);
  }
};

/// The calling thread's, without the innermost `skipped`, of which this function is none. The first call of a process loads
/// the unwinder and takes memory; later ones do not, and are safe in a signal handler.
StackFrames stack_here(int skipped = 0) noexcept;
/// The same of what a signal interrupted: called by the handler itself.
StackFrames interrupted_stack() noexcept;

/// A line a frame: "  #3 train(trainrt::Context&)+0x42 (libmine.so)".
std::string describe(const StackFrames& frames);

/// The stack of a thread of this process, which is interrupted by a signal for a moment; wherever it is: computing, in a
/// system call, asleep on a lock. No frames if it does not answer within the limit (it blocks signals, or the kernel
/// holds it). Any thread but that one may call; calls take turns.
StackFrames stack_of(pid_t thread, double limit_seconds);

/// The stacks of this process's threads, but for the calling one and `left_out`, each under a headline with its name. For
/// files that a person reads; at most 64.
std::string stacks_of_other_threads(pid_t left_out);

/// A name of C++ as people write it: "trainrt::Error" for "N7trainrt5ErrorE"; what is no such name comes back as it is.
std::string demangled(const char* name);

}  // namespace trainrt
