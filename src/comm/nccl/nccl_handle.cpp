#include "comm/nccl/nccl_handle.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "core/host.hpp"
#include "core/process/thread.hpp"

namespace trainrt::comm::nccl {

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);
/// Timeout in seconds for the collectives in progress when the communicator is destroyed.
constexpr double max_finish_s = 30;

bool is_fine(Result result) { return result == Result::success || result == Result::in_progress; }

/// Returns the watchdog's timeout: the timeout of a collective plus a margin. A wait on the host therefore times out first.
/// The error of such a wait names the missing ranks, which NCCL's error cannot.
double with_margin(double limit_seconds) { return limit_seconds + std::min(10.0, limit_seconds / 10); }

constexpr double report_after_s = 0.5;

}  // namespace

NcclHandle::NcclHandle(std::shared_ptr<const Api> api, const UniqueId& id, const Member& member)
    : api_(std::move(api)), member_(member), note_(WaitReason::of_this_thread()) {
  const std::lock_guard lock(comm_mutex_);
  Config config;
  auto result = api_->comm_init_rank_config(&comm_, member.size, id, member.rank, &config);
  if (is_fine(result) && comm_ != nullptr) result = wait_until_settled(member.limit_seconds);
  if (result != Result::success) fail("joining the NCCL communicator", result);
}

NcclHandle::~NcclHandle() {
  const bool in_order = std::uncaught_exceptions() == 0 && all_done_within(std::min(member_.limit_seconds, max_finish_s));
  {
    const std::lock_guard lock(watch_mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
  if (noted_) note_.set_on_device("");
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) return;
  if (in_order && is_fine(api_->comm_finalize(comm_)) && wait_until_settled(max_finish_s) == Result::success)
    api_->comm_destroy(comm_);
  else
    api_->comm_abort(comm_);
}

void NcclHandle::enqueue(const std::string& what, const std::function<Result(const Api&, Comm*)>& calls) {
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) throw_aborted();
  api_->group_start();
  const auto called = calls(*api_, comm_);
  const auto ended = api_->group_end();
  if (!is_fine(called)) fail(what, called);
  if (!is_fine(ended)) fail(what, ended);
  const auto result = wait_until_settled(member_.limit_seconds);
  if (result != Result::success) fail(what, result);
}

void NcclHandle::watch(std::shared_ptr<device::Event> event, std::string what) {
  const std::lock_guard lock(watch_mutex_);
  if (watched_.empty()) since_ = monotonic_seconds();
  watched_.push_back({std::move(event), std::move(what)});
  if (!watchdog_.joinable()) watchdog_ = thread_without_signals([this] { watch_loop(); });
  changed_.notify_all();
}

void NcclHandle::require_usable() {
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) throw_aborted();
}

/// Waits until the previous NCCL call is complete and returns its result. Returns in_progress after `limit_seconds`
/// seconds. The caller must hold comm_mutex_.
Result NcclHandle::wait_until_settled(double limit_seconds) {
  const auto start = monotonic_seconds();
  double waited = 0;
  for (;; waited = monotonic_seconds() - start) {
    auto state = Result::success;
    if (const auto asked = api_->comm_get_async_error(comm_, &state); asked != Result::success) return asked;
    if (state != Result::in_progress || waited > limit_seconds) return state;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(waited / 10, 1e-6, 1e-3)));
  }
}

std::string NcclHandle::text_of(Result result) const {
  if (result == Result::in_progress) return fmt::format("it took more than {} s", member_.limit_seconds);
  const char* detail = comm_ == nullptr ? nullptr : api_->get_last_error(comm_);
  return fmt::format("{}{}{}", api_->get_error_string(result), detail == nullptr || *detail == '\0' ? "" : ": ",
                     detail == nullptr ? "" : detail);
}

void NcclHandle::fail(const std::string& what, Result result) {
  abort_communicator({fmt::format("{} on rank {} ({}, GPU {}): NCCL {} failed: {}", what, member_.rank, host_name(),
                                  member_.gpu, api_->version_text(), text_of(result)),
                      result == Result::in_progress});
  throw_aborted();
}

/// Throws the error that abort_reason_ describes. The caller must hold comm_mutex_.
void NcclHandle::throw_aborted() const {
  if (abort_reason_.is_timeout) throw CollectiveTimeout(abort_reason_.text);
  throw Error(abort_reason_.text);
}

/// Aborts the NCCL communicator and stores the reason. The caller must hold comm_mutex_.
void NcclHandle::abort_communicator(AbortReason why) {
  abort_reason_ = std::move(why);
  if (comm_ != nullptr) api_->comm_abort(std::exchange(comm_, nullptr));
}

// --- the watchdog thread ------------------------------------------------------------------------------------------------

void NcclHandle::watch_loop() {
  std::unique_lock lock(watch_mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !watched_.empty(); });
    if (ending_) return;
    auto why = find_failure();
    note_wait();
    if (why.text.empty()) {
      changed_.wait_for(lock, poll_interval, [&] { return ending_; });
      continue;
    }
    watched_.clear();
    lock.unlock();
    {
      const std::lock_guard comm_lock(comm_mutex_);
      if (comm_ != nullptr) abort_communicator(std::move(why));
    }
    lock.lock();
  }
}

/// Removes the complete collectives from watched_, the list of collectives that the watchdog monitors. If the oldest
/// collective in progress has failed or exceeded the timeout, returns the reason to abort the NCCL communicator; otherwise
/// returns an empty reason. The caller must hold watch_mutex_.
NcclHandle::AbortReason NcclHandle::find_failure() try {
  while (!watched_.empty() && watched_.front().event->test()) {
    watched_.pop_front();
    since_ = monotonic_seconds();
  }
  if (watched_.empty()) return {};
  const auto& first = watched_.front();
  const auto where = fmt::format("{} on rank {} ({})", first.what, member_.rank, host_name());
  if (monotonic_seconds() - since_ > with_margin(member_.limit_seconds))
    return {
        fmt::format(
            "{}: not complete on GPU {} after {} s: a rank has not joined this collective; NCCL does not report which rank",
            where, member_.gpu, member_.limit_seconds),
        true};
  const std::unique_lock comm_lock(comm_mutex_, std::try_to_lock);
  if (!comm_lock || comm_ == nullptr) return {};  // the thread that holds comm_mutex_ checks NCCL's state itself
  auto state = Result::success;
  api_->comm_get_async_error(comm_, &state);
  if (is_fine(state)) return {};
  return {fmt::format("{}: NCCL {} failed: {}", where, api_->version_text(), text_of(state)), false};
} catch (const Error& error) {  // the GPU failed
  return {error.what(), false};
}

/// Publishes a long wait for the GPU as the wait reason of the thread that runs the train function, for hang reports. The
/// caller must hold watch_mutex_.
void NcclHandle::note_wait() {
  const bool is_long = !watched_.empty() && monotonic_seconds() - since_ > report_after_s;
  if (is_long || noted_) note_.set_on_device(is_long ? watched_.front().what + ", on the GPU" : "");
  noted_ = is_long;
}

bool NcclHandle::all_done_within(double seconds) {
  const auto start = monotonic_seconds();
  const auto done = [&] {
    const std::lock_guard lock(watch_mutex_);
    try {
      return std::all_of(watched_.begin(), watched_.end(), [](const Watched& w) { return w.event->test(); });
    } catch (const Error&) {
      return false;
    }
  };
  while (!done()) {
    if (monotonic_seconds() - start > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace trainrt::comm::nccl
