#include "checkpoint/save/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/retry.hpp"
#include "io/file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

void await_directory(const std::string& path, double limit_s, const std::function<void(const std::string&)>& say) {
  const double usual_s = std::min(1.0, limit_s);
  for (const auto until = monotonic_seconds() + usual_s; monotonic_seconds() < until;) {
    if (io::exists(path)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto look = [&] {
    if (io::exists(path)) return;
    const auto text =
        "cannot see '" + path + "', which rank 0 made: is storage_path on a file system that all nodes share?";
    if (io::exists(run_of(run_of(path)))) throw Error(text);
    throw io::StorageError(text, ESTALE);
  };
  RetryLimits limits;
  limits.limit_s = limit_s - usual_s;
  limits.tell = say;
  retry(
      "storage", look, [](const std::exception&) { return true; }, limits);
}

}  // namespace trainrt::checkpoint
