#pragma once
#include <chrono>
#include <thread>

#include <unistd.h>

namespace trainrt::launch {

/// Exits this process with `code` after `limit`, unless it ends earlier. Call it before asking a launcher to end the step:
/// the launcher may never answer, for example on a node that Slurm has declared down.
inline void end_within(std::chrono::seconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    _exit(code);
  }).detach();
}

}  // namespace trainrt::launch
