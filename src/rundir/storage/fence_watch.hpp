#pragma once
#include <functional>
#include <memory>

#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// Looks every few seconds, in a thread of its own, whether this attempt has still its private directory, and ends the
/// process if a newer attempt has taken it away. This only ends a useless process early: what keeps it from doing harm
/// is the fence itself (io/files/fenced_directory.hpp). A look that hangs, in storage that does not answer, holds nobody
/// up: the thread is never waited for.
class FenceWatch {
 public:
  struct Times {
    double between_looks_s = 10;
    double before_second_look_s = 1;  ///< one look may be mistaken: the second in a row decides
  };
  /// `end` is called once at most, in the watch's thread, never after stop() has returned.
  FenceWatch(io::FencedDirectory files, std::function<void()> end)
      : FenceWatch(std::move(files), std::move(end), Times()) {}
  FenceWatch(io::FencedDirectory files, std::function<void()> end, Times times);
  ~FenceWatch() { stop(); }
  FenceWatch(const FenceWatch&) = delete;
  FenceWatch& operator=(const FenceWatch&) = delete;

  /// Before the private directory is removed in order.
  void stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainrt::rundir
