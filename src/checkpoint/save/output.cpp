#include "checkpoint/save/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/part.hpp"
#include "core/host.hpp"
#include "core/retry.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

void await_directory(const std::string& path, bool parent_was_seen, double limit_s,
                     const std::function<void(const std::string&)>& warn) {
  const auto parent = run_of(path);
  const double quiet_s = std::min(1.0, limit_s);
  for (const auto until = monotonic_seconds() + quiet_s; monotonic_seconds() < until;) {
    if (io::exists(path)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto look = [&] {
    if (io::exists(path)) return;
    const bool storage_is_there = io::exists(run_of(parent));
    if (parent_was_seen && storage_is_there && !io::exists(parent))
      throw Error("'" + parent + "' was removed: another attempt owns this run now");
    throw DirectoryNotSeen(
        "cannot see '" + path + "', which rank 0 created; it must be on a file system that all nodes share",
        storage_is_there ? ENOENT : ESTALE, path, limit_s);
  };
  RetryLimits limits;
  limits.limit_s = limit_s - quiet_s;
  limits.notify = warn;
  const auto is_transient = [](const std::exception& error) {
    return dynamic_cast<const DirectoryNotSeen*>(&error) != nullptr;
  };
  retry("storage", look, is_transient, limits);
}

void Output::read_back(const std::function<void(std::uint64_t bytes)>& read) const {
  // Each buffer is larger than a block: reads transfer complete pages, and a block may begin or end within a page.
  io::BlockPool pool(read_buffer_bytes, 0);
  const auto file = io::PositionalFile::open(path_);
  for (const auto& record : blocks) {
    const auto block = pool.take(read_buffer_for(record.bytes));
    if (io::digest_of(file.read(record.at, static_cast<std::size_t>(record.bytes), block)) != record.digest)
      throw Error("'" + path_ + "' differs from the written data at byte " + std::to_string(record.at) +
                  ". The storage loses data; report this to its administrators");
    read(record.bytes);
  }
}

}  // namespace trainrt::checkpoint
