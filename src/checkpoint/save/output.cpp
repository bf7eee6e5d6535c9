#include "checkpoint/save/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "checkpoint/checkpoint_error.hpp"
#include "core/host.hpp"
#include "core/retry.hpp"
#include "io/file.hpp"

namespace trainrt::checkpoint {

void await_directory(const std::string& path, bool parent_was_seen, double limit_s,
                     const std::function<void(const std::string&)>& say) {
  const auto parent = run_of(path);
  const double usual_s = std::min(1.0, limit_s);
  for (const auto until = monotonic_seconds() + usual_s; monotonic_seconds() < until;) {
    if (io::exists(path)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto look = [&] {
    if (io::exists(path)) return;
    const bool storage_is_there = io::exists(run_of(parent));
    if (parent_was_seen && storage_is_there && !io::exists(parent))
      throw Error("'" + parent + "' has been taken away: another attempt owns this run now");
    throw DirectoryNotSeen("cannot see '" + path + "', which rank 0 made: it must be on a file system that all nodes share",
                           storage_is_there ? ENOENT : ESTALE, path, limit_s);
  };
  RetryLimits limits;
  limits.limit_s = limit_s - usual_s;
  limits.notify = say;
  const auto may_pass = [](const std::exception& error) {
    return dynamic_cast<const DirectoryNotSeen*>(&error) != nullptr;
  };
  retry("storage", look, may_pass, limits);
}

}  // namespace trainrt::checkpoint
