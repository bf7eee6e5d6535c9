#pragma once
#include <functional>
#include <memory>

#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// A thread that checks every few seconds whether this attempt still has its private directory, and ends the process if a
/// newer attempt has fenced it off.
///
/// It only ends a useless process early; the fence itself (io/files/fenced_directory.hpp) prevents changes to the run. The
/// thread is never joined, so storage that does not answer delays no other thread.
class FenceWatch {
 public:
  struct Times {
    double interval_s = 10;
    double recheck_after_s = 1;  ///< a missing directory is checked a second time before the process is ended
  };
  /// Starts the thread. `end`, which ends the process, is called at most once, in that thread, and never after stop() has
  /// returned. `files` is the attempt's view of the run directory.
  FenceWatch(io::FencedDirectory files, std::function<void()> end)
      : FenceWatch(std::move(files), std::move(end), Times()) {}
  FenceWatch(io::FencedDirectory files, std::function<void()> end, Times times);
  ~FenceWatch() { stop(); }
  FenceWatch(const FenceWatch&) = delete;
  FenceWatch& operator=(const FenceWatch&) = delete;

  /// Ends the checks. Must be called before this process removes the private directory itself.
  void stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainrt::rundir
