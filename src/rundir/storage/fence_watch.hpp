#pragma once
#include <functional>
#include <memory>

#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// A thread that checks every few seconds whether this attempt is still the owner of the run. If a newer attempt has fenced
/// this one off, by taking its private directory away, the thread ends the process.
///
/// The thread only ends a useless process early. Changes to the run are already prevented by the missing directory
/// (io/files/fenced_directory.hpp). The thread is never joined, so that storage that does not respond delays no other
/// thread.
class FenceWatch {
 public:
  struct Times {
    double interval_s = 10;
    double recheck_after_s = 1;  ///< seconds until the second check of a missing directory, before the process is ended
  };
  /// Starts the checking thread. `end`, a function that ends the process, is called at most once, on the checking thread,
  /// and never starts after stop() has returned. `files` is the attempt's access to the run directory.
  FenceWatch(io::FencedDirectory files, std::function<void()> end)
      : FenceWatch(std::move(files), std::move(end), Times()) {}
  FenceWatch(io::FencedDirectory files, std::function<void()> end, Times times);
  ~FenceWatch() { stop(); }
  FenceWatch(const FenceWatch&) = delete;
  FenceWatch& operator=(const FenceWatch&) = delete;

  /// Stops the checks of the attempt's private directory. Must be called before this process itself removes the directory.
  void stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainrt::rundir
