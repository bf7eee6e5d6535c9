#pragma once
#include <string>

#include <sys/types.h>

namespace trainrt {

/// The call stack of a thread: return addresses, innermost first. A signal handler may fill the object.
struct StackFrames {
  static constexpr int max_frames = 96;
  int count = 0;
  /// Whether the first address is the instruction at which a signal interrupted the thread, not a return address.
  bool interrupted = false;
  void* addresses[max_frames] = {};

  /// Returns an address inside the call instruction of frame `i`. A return address may already be in the next function, so
  /// the address before it is returned.
  const void* code_at(int i) const noexcept {
    return static_cast<const char*>(addresses[i]) - (i == 0 && interrupted ? 0 : 1);
  }
};

/// Returns the call stack of the calling thread, without stack_here() itself and without the `skipped` innermost frames.
/// The first call in a process loads the unwinder and allocates memory; later calls are async-signal-safe.
StackFrames stack_here(int skipped = 0) noexcept;
/// Returns the call stack of the code that a signal interrupted. Must be called directly by the signal handler.
/// Async-signal-safe after the first call of stack_here().
StackFrames interrupted_stack() noexcept;

/// Formats a call stack as text, one line per frame: "  #3 train(trainrt::Context&)+0x42 (libmine.so)".
std::string describe(const StackFrames& frames);

/// Returns the call stack of another thread of this process. A signal interrupts the thread briefly, even while the thread
/// computes, is in a system call or waits for a lock.
///
/// If the thread does not respond within `limit_seconds`, because it blocks signals or is in an uninterruptible system
/// call, the result has no frames. Thread-safe; concurrent calls wait for each other.
StackFrames stack_of(pid_t thread, double limit_seconds);

/// Returns the call stacks of at most 64 threads of this process as text, each after a line with the thread's name. The
/// calling thread and the thread `left_out` are omitted.
std::string stacks_of_other_threads(pid_t left_out);

/// Demangles a C++ name: returns "trainrt::Error" for "N7trainrt5ErrorE". Other names are returned unchanged.
std::string demangled(const char* name);

}  // namespace trainrt
