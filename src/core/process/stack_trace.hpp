#pragma once
#include <string>

#include <sys/types.h>

namespace trainrt {

/// The return addresses of a thread's calls, innermost first. A signal handler may fill it.
struct StackFrames {
  static constexpr int max_frames = 96;
  int count = 0;
  bool interrupted = false;  ///< the first address is where a signal interrupted the thread, not a return address
  void* addresses[max_frames] = {};

  /// Returns an address inside the instruction of frame `i`. A return address may be the start of the next function, so the
  /// call is before it.
  const void* code_at(int i) const noexcept {
    return static_cast<const char*>(addresses[i]) - (i == 0 && interrupted ? 0 : 1);
  }
};

/// Returns the stack of the calling thread, without this function and without the `skipped` innermost frames. The first
/// call in a process loads the unwinder and allocates memory; later calls are async-signal-safe.
StackFrames stack_here(int skipped = 0) noexcept;
/// Returns the stack of the code that a signal interrupted. Must be called by the signal handler itself.
StackFrames interrupted_stack() noexcept;

/// Returns one line per frame: "  #3 train(trainrt::Context&)+0x42 (libmine.so)".
std::string describe(const StackFrames& frames);

/// Returns the stack of another thread of this process. A signal interrupts the thread for a moment, whether it computes,
/// is in a system call or waits for a lock. Returns no frames if the thread does not respond within the limit (it blocks
/// signals, or the kernel holds it). Any other thread may call this function; concurrent calls wait for each other.
StackFrames stack_of(pid_t thread, double limit_seconds);

/// Returns the stacks of at most 64 threads of this process, each after a line with the thread's name, without the calling
/// thread and the thread `left_out`.
std::string stacks_of_other_threads(pid_t left_out);

/// Returns the readable form of a mangled C++ name: "trainrt::Error" for "N7trainrt5ErrorE". Other names are returned
/// unchanged.
std::string demangled(const char* name);

}  // namespace trainrt
