#include "launch/pmi/pmix_client.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <pmix.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "launch/pmi/roll_call.hpp"

namespace trainrt::launch {

namespace {

pmix_proc_t the_proc{};  // PMIx has one client a process

void check(pmix_status_t status, const std::string& what) {
  if (status != PMIX_SUCCESS) throw Error(fmt::format("PMIx: {} failed: {} ({})", what, PMIx_Error_string(status), status));
}

pmix_proc_t proc_of(pmix_rank_t rank) {
  pmix_proc_t proc{};
  std::memcpy(proc.nspace, the_proc.nspace, sizeof proc.nspace);
  proc.rank = rank;
  return proc;
}

/// A value from what the server gave us at the start: never asks other ranks.
std::optional<std::string> local_text(pmix_rank_t rank, const char* key) {
  const auto proc = proc_of(rank);
  pmix_value_t* value = nullptr;
  bool only_local = true;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &only_local, PMIX_BOOL);
  const auto status = PMIx_Get(&proc, key, &info, 1, &value);
  PMIX_INFO_DESTRUCT(&info);
  if (status != PMIX_SUCCESS || value == nullptr) return std::nullopt;
  std::optional<std::string> text;
  if (value->type == PMIX_STRING && value->data.string != nullptr) text = value->data.string;
  if (value->type == PMIX_UINT32) text = std::to_string(value->data.uint32);
  PMIX_VALUE_RELEASE(value);
  return text;
}

/// Calls back once; outlives both the caller and the callback, whichever comes last.
struct Arrival {
  std::mutex mutex;
  std::condition_variable arrived;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;

  void set(pmix_status_t s) {
    const std::lock_guard lock(mutex);
    done = true;
    status = s;
    arrived.notify_all();
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex);
    return arrived.wait_until(lock, deadline, [&] { return done; });
  }
};
using SharedArrival = std::shared_ptr<Arrival>;

void on_fence(pmix_status_t status, void* data) {
  const std::unique_ptr<SharedArrival> arrival(static_cast<SharedArrival*>(data));
  (*arrival)->set(status);
}

std::chrono::steady_clock::time_point in_seconds(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

}  // namespace

PmixClient::PmixClient(double timeout_seconds, std::string shared_dir)
    : timeout_seconds_(timeout_seconds), shared_dir_(std::move(shared_dir)) {
  if (const auto status = PMIx_Init(&the_proc, nullptr, 0); status != PMIX_SUCCESS)
    throw Error(
        fmt::format("PMIx: PMIx_Init failed: {} ({}). In a container, start `trainrt doctor` in the same way: it names "
                    "what the container lacks",
                    PMIx_Error_string(status), status));
  const auto size = local_text(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  if (!size) throw Error("PMIx: the server does not tell the size of the job (PMIX_JOB_SIZE)");
  size_ = std::stoi(*size);
}

PmixClient::~PmixClient() = default;  // leaving without PMIx_Finalize is how a failed rank takes the step with it

int PmixClient::rank() const { return static_cast<int>(the_proc.rank); }
std::string PmixClient::space() const { return the_proc.nspace; }
std::optional<std::string> PmixClient::process_mapping() const { return local_text(PMIX_RANK_WILDCARD, PMIX_ANL_MAP); }

void PmixClient::put(const std::string& key, const std::string& value) {
  pmix_value_t stored;
  PMIX_VALUE_LOAD(&stored, value.c_str(), PMIX_STRING);
  const auto status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &stored);
  PMIX_VALUE_DESTRUCT(&stored);
  check(status, "put " + key);
}

void PmixClient::fence(const std::string& what) {
  check(PMIx_Commit(), "commit");
  bool collect = true;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  const auto proc = proc_of(PMIX_RANK_WILDCARD);
  auto arrival = std::make_shared<Arrival>();
  auto passed = std::make_unique<SharedArrival>(arrival);
  check(PMIx_Fence_nb(&proc, 1, &info, 1, on_fence, passed.get()), "fence (" + what + ")");
  static_cast<void>(passed.release());  // the callback owns it now
  if (!arrival->wait_until(in_seconds(timeout_seconds_))) {
    std::vector<std::string> missing;
    for (const auto rank : missing_ranks()) missing.push_back(std::to_string(rank));
    throw Error(
        fmt::format("{}: waited {} s, and rank{} {} of {} did not come: look for what ended or holds {} (srun's lines, the "
                    "node's log)",
                    what, timeout_seconds_, missing.size() == 1 ? "" : "s", missing.empty() ? "(unknown)" : join(missing),
                    size_, missing.size() == 1 ? "it" : "them"));
  }
  PMIX_INFO_DESTRUCT(&info);
  check(arrival->status, "fence (" + what + ")");
}

// PMIx cannot tell: asking it for what a rank put blocks Slurm's plugin for half a minute if that rank's node has no
// task left.
std::vector<int> PmixClient::missing_ranks() const { return missing_by_roll_call(shared_dir_, space(), rank(), size_); }

std::string PmixClient::get(int rank, const std::string& key) const {
  const auto proc = proc_of(static_cast<pmix_rank_t>(rank));
  pmix_value_t* value = nullptr;
  check(PMIx_Get(&proc, key.c_str(), nullptr, 0, &value), fmt::format("get {} of rank {}", key, rank));
  std::string text = value->type == PMIX_STRING ? value->data.string : "";
  PMIX_VALUE_RELEASE(value);
  return text;
}

void PmixClient::abort(int code) noexcept { PMIx_Abort(code, nullptr, nullptr, 0); }

void PmixClient::finalize() {
  if (finalized_) return;
  finalized_ = true;
  check(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
}

}  // namespace trainrt::launch
