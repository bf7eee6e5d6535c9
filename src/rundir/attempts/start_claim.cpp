#include "rundir/attempts/start_claim.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "core/files/shortage.hpp"
#include "core/host.hpp"
#include "core/process/processes.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_error.hpp"
#include "rundir/storage/run_directory.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

namespace {

constexpr double age_of_removed_s = 1e9;

/// Returns the content of the claim at `path`; nullopt if it does not exist or is invalid. Throws StorageError if it cannot
/// be read.
std::optional<AttemptRecord> read_claim(const std::string& path) try {
  return attempt_record_from(io::read_file(path));
} catch (const io::StorageError& error) {
  if (error.error_number() == ENOENT || error.error_number() == ENOTDIR) return std::nullopt;
  throw;
} catch (const std::exception&) {
  return std::nullopt;
}

/// Returns the seconds since the last heartbeat of the claim at `path`; a large number if the claim was just removed.
double claim_age_s(const std::string& path) try { return io::age_seconds(path); } catch (const io::StorageError&) {
  if (io::exists(path)) throw;
  return age_of_removed_s;
}

/// Like claim_age_s(), but uses the clock of this host instead of the storage's clock.
double local_claim_age_s(const std::string& path) {
  std::error_code gone;
  const auto modified = fs::last_write_time(path, gone);
  if (gone) return age_of_removed_s;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - modified).count();
}

std::string claim_path(const std::string& run_dir) {
  auto run = fs::absolute(run_dir).lexically_normal();
  if (run.filename().empty()) run = run.parent_path();
  return (run.parent_path() / (".starting-" + run.filename().string())).string();
}

/// Returns whether the owner of a claim is alive. An owner in the same job on another host does not count: its job step
/// may have ended with its node, and `trainrt supervise` starts the next step at once.
bool is_claim_alive(const AttemptRecord& claim, const JobCheck& job_is_alive, const std::function<double()>& age_s) {
  const auto me = this_owner();
  if (!me.job_id.empty() && claim.owner.job_id == me.job_id && claim.owner.host != me.host) return false;
  return is_alive(claim.owner, me, {process_start_time, job_is_alive, age_s});
}

void refuse_if_claimed(const std::string& run_dir, const std::string& path) {
  const auto claim = io::retried([&] { return read_claim(path); });
  const auto age_s = [&] { return io::retried([&] { return claim_age_s(path); }); };
  if (!claim || !is_claim_alive(*claim, slurm_job_is_alive, age_s)) return;
  const auto& owner = claim->owner;
  throw RunIsOwned(fmt::format(
      "the run in {} is already being started by {}process {} on {}, since {}. Wait for that process to end, or stop it",
      run_dir, owner.job_id.empty() ? "" : "job " + owner.job_id + ", ", owner.pid, owner.host, claim->start));
}

std::string claim_text() {
  AttemptRecord claim;
  claim.number = 1;  // not used: the claim has no number, but the record requires one
  claim.owner = this_owner();
  claim.start = utc_now();
  return to_text(claim);
}

void send_heartbeats(const std::stop_token& stop, const std::string& path) {
  constexpr std::chrono::seconds interval(10);
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    stopped.wait_for(lock, stop, interval, [] { return false; });
    if (!stop.stop_requested()) io::touch(path);
  }
}

}  // namespace

bool is_being_started(const std::string& run_dir, const JobCheck& job_is_alive) try {
  const auto path = claim_path(run_dir);
  const auto claim = read_claim(path);
  return claim && is_claim_alive(*claim, job_is_alive, [&] { return local_claim_age_s(path); });
} catch (const io::StorageError&) {
  return false;
}

StartClaim::StartClaim(const std::string& run_dir)
    : storage_path_(fs::path(run_dir).parent_path().string()), path_(claim_path(run_dir)) {
  if (const auto numbers = numbers_of_attempts(run_dir); !numbers.empty())
    if (const auto last = read_record(run_dir, numbers.back())) refuse_if_alive(run_dir, *last);
  existing_ = existing_part(storage_path_);
  text_ = claim_text();
  io::retried([&] { io::make_directories(storage_path_); });
  while (!io::retried([&] { return io::create_exclusive(path_, text_); })) {
    refuse_if_claimed(run_dir, path_);
    io::remove_tree(path_);
  }
  heartbeats_ = std::jthread([path = path_](const std::stop_token& stop) { send_heartbeats(stop, path); });
}

StartClaim::~StartClaim() {
  heartbeats_.request_stop();
  heartbeats_.join();
  try {
    if (io::exists(path_) && io::read_file(path_) == text_) io::remove_tree(path_);
    remove_made_storage(storage_path_, existing_);
  } catch (const std::exception&) {
    // Ignore the error: the claim of a process that no longer runs is replaced by the next start.
  }
}

}  // namespace trainrt::rundir
