#include "launch/pmi/pmix_client.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/text/text.hpp"
#include "launch/pmi/pmix_library.hpp"

namespace trainrt::launch {

namespace fs = std::filesystem;

namespace {

pmix_proc_t the_proc{};  // namespace and rank of this process in PMIx, which allows one client per process

void check(pmix_status_t status, const std::string& call) {
  if (status != PMIX_SUCCESS)
    throw Error(fmt::format("PMIx: {} failed: {} ({})", call, pmix().Error_string(status), status));
}

/// Returns the attribute `key` with the value true. It owns no memory.
pmix_info_t attribute(const char* key) {
  pmix_info_t info{};
  std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

/// Frees a value that PMIx_Get() returned, and returns its text if it is a string.
std::string text_and_free(pmix_value_t* value) {
  std::string text;
  if (value->type == PMIX_STRING && value->data.string != nullptr) {
    text = value->data.string;
    std::free(value->data.string);
  }
  std::free(value);
  return text;
}

pmix_proc_t proc_of(pmix_rank_t rank) {
  pmix_proc_t proc{};
  std::memcpy(proc.nspace, the_proc.nspace, sizeof proc.nspace);
  proc.rank = rank;
  return proc;
}

/// Returns a string that the PMIx server gave to this process at the start, by its key; nullopt if there is no such string.
/// Never communicates with other ranks.
std::optional<std::string> local_text(pmix_rank_t rank, const char* key) {
  const auto proc = proc_of(rank);
  pmix_value_t* value = nullptr;
  const auto only_local = attribute(PMIX_OPTIONAL);
  const auto status = pmix().Get(&proc, key, &only_local, 1, &value);
  if (status != PMIX_SUCCESS || value == nullptr) return std::nullopt;
  const auto type = value->type;
  const auto number = type == PMIX_UINT32 ? std::to_string(value->data.uint32) : "";
  auto text = text_and_free(value);
  if (type == PMIX_STRING) return text;
  return type == PMIX_UINT32 ? std::optional(number) : std::nullopt;
}

/// The result of a PMIx fence. The waiting thread and the callback of PMIx share ownership, because either may end first.
struct FenceResult {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;

  void set(pmix_status_t s) {
    const std::lock_guard lock(mutex);
    done = true;
    status = s;
    changed.notify_all();
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, deadline, [&] { return done; });
  }
};
using SharedFenceResult = std::shared_ptr<FenceResult>;

void on_fence(pmix_status_t status, void* data) {
  const std::unique_ptr<SharedFenceResult> result(static_cast<SharedFenceResult*>(data));
  (*result)->set(status);
}

std::chrono::steady_clock::time_point in_seconds(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

/// Returns the numbers of the ranks that did not reach the PMIx fence, after a timeout of the fence. Collective over the
/// waiting ranks, which communicate through the file system:
/// - Each waiting rank creates a file named by its number in the directory `shared_dir`/.trainrt-here-`id`, waits, lists
///   the files and then removes the directory. `id` must be the same on all ranks of the job step, and unique to it.
/// - Returns an empty list if the directory cannot be used.
///
/// The missing ranks cannot be found by PMIx itself: if the node of a rank has no task left, getting a value of this rank
/// blocks Slurm's plugin for 30 s.
std::vector<int> ranks_without_file(const std::string& shared_dir, const std::string& id, int rank, int size) {
  const auto existing = fs::path(shared_dir);
  const auto board = existing / (".trainrt-here-" + id);
  std::error_code error;
  if (shared_dir.empty() || !fs::is_directory(existing, error)) return {};
  const GuardedTree guarded(shared_dir);
  at_entry(board, [](int directory, const char* name) { return mkdirat(directory, name, 0777); });
  const int mine = open_guarded(board / std::to_string(rank), O_WRONLY | O_CREAT);
  if (mine < 0) return {};
  close(mine);
  // All waiting ranks create their files at about the same time. The pause allows for slow ranks and for caches of file
  // attributes.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::vector<int> missing;
  for (int other = 0; other < size; ++other)
    if (!fs::exists(board / std::to_string(other), error)) missing.push_back(other);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // other ranks list the files before the directory is removed
  fs::remove_all(board, error);
  return missing;
}

}  // namespace

PmixClient::PmixClient(double timeout_seconds, std::string shared_dir)
    : timeout_seconds_(timeout_seconds), shared_dir_(std::move(shared_dir)) {
  if (const auto status = pmix().Init(&the_proc, nullptr, 0); status != PMIX_SUCCESS)
    throw Error(
        fmt::format("PMIx: PMIx_Init failed: {} ({}). "
                    "In a container, start `trainrt doctor` in the same way: it lists what the container lacks",
                    pmix().Error_string(status), status));
  const auto size = local_text(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  if (!size) throw Error("PMIx: the server does not report the size of the job (PMIX_JOB_SIZE)");
  size_ = std::stoi(*size);
}

int PmixClient::rank() const { return static_cast<int>(the_proc.rank); }
std::string PmixClient::space() const { return the_proc.nspace; }
std::optional<std::string> PmixClient::process_mapping() const { return local_text(PMIX_RANK_WILDCARD, PMIX_ANL_MAP); }

bool PmixClient::is_one_node() const { return local_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) == std::to_string(size_); }

void PmixClient::put(const std::string& key, const std::string& value) {
  std::string text = value;
  pmix_value_t stored{};
  stored.type = PMIX_STRING;
  stored.data.string = text.data();  // PMIx_Put() copies it
  check(pmix().Put(PMIX_GLOBAL, key.c_str(), &stored), "put " + key);
}

void PmixClient::fence(const std::string& purpose) {
  check(pmix().Commit(), "commit");
  const auto collect = attribute(PMIX_COLLECT_DATA);
  const auto proc = proc_of(PMIX_RANK_WILDCARD);
  auto result = std::make_shared<FenceResult>();
  auto passed = std::make_unique<SharedFenceResult>(result);
  check(pmix().Fence_nb(&proc, 1, &collect, 1, on_fence, passed.get()), "fence (" + purpose + ")");
  static_cast<void>(passed.release());  // the callback now owns the pointer
  if (!result->wait_until(in_seconds(timeout_seconds_))) {
    std::vector<std::string> missing;
    for (const auto rank : ranks_without_file(shared_dir_, space(), this->rank(), size_))
      missing.push_back(std::to_string(rank));
    const bool is_one = missing.size() == 1;
    throw Error(
        fmt::format("{}: rank{} {} of {} did not start within {} s. "
                    "Check why {} exited or blocks: see srun's messages and the node's log",
                    purpose, is_one ? "" : "s", missing.empty() ? "(unknown)" : join(missing), size_, timeout_seconds_,
                    is_one ? "it" : "they"));
  }
  check(result->status, "fence (" + purpose + ")");
}

std::string PmixClient::get(int rank, const std::string& key) const {
  const auto proc = proc_of(static_cast<pmix_rank_t>(rank));
  pmix_value_t* value = nullptr;
  check(pmix().Get(&proc, key.c_str(), nullptr, 0, &value), fmt::format("get {} of rank {}", key, rank));
  return text_and_free(value);
}

void PmixClient::abort(int code) noexcept { pmix().Abort(code, nullptr, nullptr, 0); }

void PmixClient::finalize() {
  if (finalized_) return;
  finalized_ = true;
  check(pmix().Finalize(nullptr, 0), "PMIx_Finalize");
}

}  // namespace trainrt::launch
