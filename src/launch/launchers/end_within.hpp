#pragma once
#include <chrono>
#include <thread>

#include <unistd.h>

namespace trainrt::launch {

/// Starts a watchdog thread that exits this process with `code` after `limit`, unless the process ends earlier. Call this
/// function before asking a launcher to end the job step: the launcher may never answer, for example on a node that Slurm
/// has declared down.
inline void end_within(std::chrono::seconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    _exit(code);
  }).detach();
}

}  // namespace trainrt::launch
