#pragma once
#include <chrono>
#include <thread>

#include <unistd.h>

namespace trainrt::launch {

/// Ends this process with that code in so many seconds, if nothing else does before: a launcher that is asked to end the
/// step may never answer, as on a node that Slurm has given up.
inline void end_within(std::chrono::seconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    _exit(code);
  }).detach();
}

}  // namespace trainrt::launch
