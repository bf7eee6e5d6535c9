#include "rundir/storage/run_directory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
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

/// Returns whether an error shows that the path is invalid, as opposed to storage that is full or temporarily unavailable.
/// File systems that allow no new directories, such as /proc, report ENOENT.
bool is_path_error(const io::StorageError& error) {
  static constexpr std::array numbers = {EACCES, EPERM, EROFS, ENOTDIR, EEXIST, ELOOP, EINVAL, ENAMETOOLONG, ENOENT};
  return std::ranges::find(numbers, error.error_number()) != numbers.end();
}

/// Must be called in a catch block of `error`. Throws PathNotWritable if the error shows that the path is invalid,
/// otherwise throws the error again.
[[noreturn]] void fail_to_write(const io::StorageError& error) {
  if (!is_path_error(error)) throw;  // throws the error that is being handled
  throw PathNotWritable(fmt::format("{} (on {})", error.what(), host_name()));
}

void make_directories(const std::string& path) try {
  io::retried([&] { io::make_directories(path); });
} catch (const io::StorageError& error) {
  fail_to_write(error);
}

/// Writes a file at `path`, to test whether all ranks see the same directory. Returns true if the file was written. If its
/// directory does not exist, returns false, or throws if `is_last_attempt`.
bool write_probe(const std::string& path, bool is_last_attempt) try {
  io::retried([&] {
    io::remove_tree(path);
    io::write_file(path, "is this directory shared by all ranks?\n");
  });
  return true;
} catch (const io::StorageError& error) {
  if (error.error_number() == ENOENT && !is_last_attempt) return false;
  fail_to_write(error);
}

void wait_until_seen(const std::string& path, double timeout_s) {
  using namespace std::chrono_literals;
  const auto start = monotonic_seconds();
  while (access(path.c_str(), F_OK) != 0) {
    if (monotonic_seconds() - start > timeout_s)
      throw PathNotShared(fmt::format("{} is not seen on {} after {} s: it must be on a file system that all nodes share",
                                      path, host_name(), timeout_s));
    std::this_thread::sleep_for(100ms);
  }
}

constexpr std::string_view private_prefix = ".attempt_";
constexpr std::string_view fenced_prefix = ".fenced_";

/// Returns the number of the attempt with a private directory named `name`; 0 if `name` is not the name of a private
/// directory.
int attempt_of(const std::string& name) {
  if (!name.starts_with(private_prefix)) return 0;
  const auto number = parse_integer(name.substr(private_prefix.size()));
  return number && *number > 0 && *number < 1'000'000'000 ? static_cast<int>(*number) : 0;
}

}  // namespace

void remove_made_storage(const std::string& storage_path, const std::string& existing) {
  std::error_code error;
  fs::path path = storage_path;
  // a symbolic link was created by the user, and is not removed
  const auto removes = [&] { return !fs::is_symlink(path, error) && fs::remove(path, error); };
  for (; path != existing && path.has_parent_path() && removes(); path = path.parent_path()) {
  }
}

std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator,
                                   const Explain& explain) {
  const auto existing = existing_part(storage_path);
  const auto probe = communicator.broadcast_text(io::temporary_beside(storage_path + "/probe"), 0);
  const auto make_probe = [&] {
    constexpr int max_attempts = 100;  // another process's remove_made_storage() may remove the directory while it is empty
    int attempt = 0;
    do make_directories(storage_path);
    while (!write_probe(probe, ++attempt == max_attempts));
  };
  const auto remove_probe = [&] {
    std::error_code ignored;
    fs::remove(probe, ignored);
  };
  try {
    comm::collectively_on_first(communicator, make_probe, explain);
    comm::collectively(
        communicator, [&] { wait_until_seen(probe, timeout_s); }, explain);
  } catch (const comm::AgreedError&) {
    comm::collectively_on_first(communicator, [&] {
      remove_probe();
      remove_made_storage(storage_path, existing);
    });
    throw;
  }
  comm::collectively_on_first(communicator, remove_probe);
  return existing;
}

void discard_run_directory(const io::FencedDirectory& run_dir, int attempt, const std::string& existing) {
  const fs::path path = run_dir.path();
  for (const auto& name : io::list_directory(path.string()))
    if (attempt_of(name) == 0 && name != "attempts" && !checkpoint::number_of(name)) run_dir.remove(name);
  const auto record = "attempts/" + attempt_name(attempt);
  run_dir.remove(record + ".json");
  // the attempt's heartbeat thread may still be running
  io::fence_off(run_dir.private_dir(), run_dir.private_dir() + ".discarded");
  unlink_guarded(path / (record + ".pulse"));
  remove_directory_guarded(path / "attempts");  // this and the following removals fail if the directory is not empty
  remove_made_storage(path.string(), existing);
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
  // the previous attempt may still run, even if an outdated directory listing lacks it
  if (attempt > 1) older.insert(attempt - 1);
  for (const auto& name : io::retried([&] { return io::list_directory(run_dir); }))
    if (const int number = attempt_of(name); number > 0 && number < attempt) older.insert(number);
  for (const int number : older) {
    const auto fenced = run_dir + "/" + std::string(fenced_prefix) + attempt_name(number);
    const auto left = io::retried([&] { return io::fence_off(private_directory(run_dir, number), fenced); });
    if (!left.empty()) log::warning("cannot remove the files of an earlier attempt: " + left);
  }
}

void remove_leftovers(const std::string& run_dir) {
  for (const auto& folder : {fs::path(run_dir), fs::path(run_dir) / "attempts", fs::path(run_dir).parent_path()})
    io::remove_abandoned(folder.string());
  for (const auto& name : io::list_directory(run_dir)) {
    if (!name.starts_with(fenced_prefix)) continue;
    try {
      io::remove_tree(run_dir + "/" + name);
    } catch (const Error& error) {
      log::warning(std::string("cannot remove the files of an earlier attempt: ") + error.what());
    }
  }
}

}  // namespace trainrt::rundir
