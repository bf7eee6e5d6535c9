#include "rundir/storage/run_directory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "io/storage_retry.hpp"
#include "rundir/records/attempt_record.hpp"
#include "rundir/records/run_error.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

namespace {

/// Returns whether the config's path is to blame, not the state of the storage: a full disk has room again some day. ENOENT
/// is the answer of file systems in which nobody makes directories, such as /proc.
bool is_for_the_user(const io::StorageError& error) {
  static constexpr std::array numbers = {EACCES, EPERM, EROFS, ENOTDIR, EEXIST, ELOOP, EINVAL, ENAMETOOLONG, ENOENT};
  return std::ranges::find(numbers, error.error_number()) != numbers.end();
}

void make_directories(const std::string& path) try {
  io::retried([&] { io::make_directories(path); });
} catch (const io::StorageError& error) {
  if (!is_for_the_user(error)) throw;
  throw PathNotWritable(fmt::format("{} (on {})", error.what(), host_name()), error.path());
}

/// Returns whether the file was written. If its directory does not exist, returns false, or throws at the last attempt.
bool write_probe(const std::string& path, bool is_last_attempt) try {
  io::retried([&] {
    io::remove_tree(path);
    io::write_file(path, "is this directory shared by all ranks?\n");
  });
  return true;
} catch (const io::StorageError& error) {
  if (error.error_number() == ENOENT && !is_last_attempt) return false;
  if (!is_for_the_user(error)) throw;
  throw PathNotWritable(error.what(), error.path());
}

void wait_until_seen(const std::string& path, double timeout_s) {
  using namespace std::chrono_literals;
  const auto start = monotonic_seconds();
  while (access(path.c_str(), F_OK) != 0) {
    if (monotonic_seconds() - start > timeout_s)
      throw PathNotShared(fmt::format("{} is not seen on {} after {} s: it must be on a file system that all nodes share",
                                      path, host_name(), timeout_s),
                          path, host_name(), timeout_s);
    std::this_thread::sleep_for(100ms);
  }
}

constexpr std::string_view private_prefix = ".attempt_";
constexpr std::string_view fenced_prefix = ".fenced_";

/// Whose private directory has that name; 0 for other names.
int attempt_of(const std::string& name) {
  if (!name.starts_with(private_prefix)) return 0;
  const auto number = parse_integer(name.substr(private_prefix.size()));
  return number && *number > 0 && *number < 1'000'000'000 ? static_cast<int>(*number) : 0;
}

void remove_made(fs::path path, const fs::path& stop) {
  std::error_code error;
  const auto removes = [&] { return !fs::is_symlink(path, error) && fs::remove(path, error); };  // links are somebody's
  for (; path != stop && path.has_parent_path() && removes(); path = path.parent_path()) {
  }
}

}  // namespace

std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator,
                                   const Explain& explain) {
  const auto before = existing_part(storage_path);
  const auto probe = communicator.broadcast_text(io::temporary_beside(storage_path + "/probe"), 0);
  const auto make_probe = [&] {
    constexpr int max_attempts = 100;  // another process may remove the directory while it is empty: remove_made_storage()
    int attempt = 0;
    do make_directories(storage_path);
    while (!write_probe(probe, ++attempt == max_attempts));
  };
  try {
    comm::collectively_on_first(communicator, make_probe, explain);
    comm::collectively(
        communicator, [&] { wait_until_seen(probe, timeout_s); }, explain);
  } catch (const comm::AgreedError&) {
    comm::collectively_on_first(communicator, [&] {
      std::error_code ignored;
      fs::remove(probe, ignored);
      remove_made(storage_path, before);
    });
    throw;
  }
  comm::collectively_on_first(communicator, [&] {
    std::error_code ignored;
    fs::remove(probe, ignored);
  });
  return before;
}

void remove_made_storage(const std::string& storage_path, const std::string& there_before) {
  remove_made(storage_path, there_before);
}

void discard_run_directory(const io::FencedDirectory& run_dir, int attempt, const std::string& there_before) {
  const fs::path path = run_dir.path();
  for (const auto& name : io::list_directory(path.string()))
    if (attempt_of(name) == 0 && name != "attempts" && !checkpoint::number_of(name)) run_dir.remove(name);
  const auto record = "attempts/" + attempt_name(attempt);
  run_dir.remove(record + ".json");
  io::fence_off(run_dir.private_dir(), run_dir.private_dir() + ".discarded");  // its heart may beat still
  unlink_guarded(path / (record + ".pulse"));
  remove_directory_guarded(path / "attempts");  // if it is empty; so are the others
  remove_made(path, there_before);
}

void make_run_directory(const std::string& run_dir, double timeout_s, Communicator& communicator, const Explain& explain) {
  const auto make = [&] {
    for (const auto* folder : {"", "/attempts", "/artifacts", "/logs"}) make_directories(run_dir + folder);
    io::sync_directory(fs::path(run_dir).parent_path().string());
  };
  comm::collectively_on_first(communicator, make, explain);
  comm::collectively(
      communicator, [&] { wait_until_seen(run_dir + "/logs", timeout_s); }, explain);
}

std::string private_directory(const std::string& run_dir, int attempt) {
  return run_dir + "/" + std::string(private_prefix) + attempt_name(attempt);
}

int newest_private_directory(const std::string& run_dir) {
  int newest = 0;
  for (const auto& name : io::list_directory(run_dir)) newest = std::max(newest, attempt_of(name));
  return newest;
}

void fence_off_older(const std::string& run_dir, int attempt) {
  std::set<int> older;
  if (attempt > 1) older.insert(attempt - 1);  // whatever the listing shows: it is the one that may run still
  for (const auto& name : io::retried([&] { return io::list_directory(run_dir); }))
    if (const int number = attempt_of(name); number > 0 && number < attempt) older.insert(number);
  for (const int number : older) {
    const auto fenced = run_dir + "/" + std::string(fenced_prefix) + attempt_name(number);
    const auto left = io::retried([&] { return io::fence_off(private_directory(run_dir, number), fenced); });
    if (!left.empty()) log::warning("what an earlier attempt left stays: " + left);
  }
}

void sweep(const std::string& run_dir) {
  for (const auto& folder : {fs::path(run_dir), fs::path(run_dir) / "attempts", fs::path(run_dir).parent_path()})
    io::remove_abandoned(folder.string());
  for (const auto& name : io::list_directory(run_dir)) {
    if (!name.starts_with(fenced_prefix)) continue;
    try {
      io::remove_tree(run_dir + "/" + name);
    } catch (const Error& error) {
      log::warning(std::string("cannot sweep what an earlier attempt left: ") + error.what());
    }
  }
}

}  // namespace trainrt::rundir
