#include "comm/nccl/link.hpp"

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
constexpr double farewell_s = 30;  ///< for what is under way when a run ends

bool is_fine(Result result) { return result == Result::success || result == Result::in_progress; }

/// Waits on the host name the ranks that are missing, NCCL does not: they are given the time to speak first.
double with_margin(double limit_seconds) { return limit_seconds + std::min(10.0, limit_seconds / 10); }

constexpr double worth_saying_s = 0.5;

}  // namespace

Link::Link(std::shared_ptr<const Api> api, const UniqueId& id, const Member& place)
    : api_(std::move(api)), place_(place), note_(WaitReason::of_this_thread()) {
  const std::lock_guard lock(comm_mutex_);
  Config config;
  auto result = api_->comm_init_rank_config(&comm_, place.size, id, place.rank, &config);
  if (is_fine(result) && comm_ != nullptr) result = settled(place.limit_seconds);
  if (result != Result::success) fail("joining the NCCL communicator", result);
}

Link::~Link() {
  const bool in_order = std::uncaught_exceptions() == 0 && all_done_within(std::min(place_.limit_seconds, farewell_s));
  {
    const std::lock_guard lock(watch_mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
  if (noted_) note_.set_on_device("");
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) return;
  if (in_order && is_fine(api_->comm_finalize(comm_)) && settled(farewell_s) == Result::success)
    api_->comm_destroy(comm_);
  else
    api_->comm_abort(comm_);
}

void Link::enqueue(const std::string& what, const std::function<Result(const Api&, Comm*)>& calls) {
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) refuse();
  api_->group_start();
  const auto called = calls(*api_, comm_);
  const auto ended = api_->group_end();
  if (!is_fine(called)) fail(what, called);
  if (!is_fine(ended)) fail(what, ended);
  const auto result = settled(place_.limit_seconds);
  if (result != Result::success) fail(what, result);
}

void Link::watch(std::shared_ptr<device::Event> event, std::string what) {
  const std::lock_guard lock(watch_mutex_);
  if (watched_.empty()) since_ = monotonic_seconds();
  watched_.push_back({std::move(event), std::move(what)});
  if (!watchdog_.joinable()) watchdog_ = thread_without_signals([this] { watch_loop(); });
  changed_.notify_all();
}

void Link::require_whole() {
  const std::lock_guard lock(comm_mutex_);
  if (comm_ == nullptr) refuse();
}

/// What the call before has come to; in_progress if it takes too long.
Result Link::settled(double limit_seconds) {
  const auto start = monotonic_seconds();
  double waited = 0;
  for (;; waited = monotonic_seconds() - start) {
    auto state = Result::success;
    if (const auto asked = api_->comm_get_async_error(comm_, &state); asked != Result::success) return asked;
    if (state != Result::in_progress || waited > limit_seconds) return state;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(waited / 10, 1e-6, 1e-3)));
  }
}

std::string Link::text_of(Result result) const {
  if (result == Result::in_progress) return fmt::format("it took more than {} s", place_.limit_seconds);
  const char* detail = comm_ == nullptr ? nullptr : api_->get_last_error(comm_);
  return fmt::format("{}{}{}", api_->get_error_string(result), detail == nullptr || *detail == '\0' ? "" : ": ",
                     detail == nullptr ? "" : detail);
}

void Link::fail(const std::string& what, Result result) {
  break_off({fmt::format("{} on rank {} ({}, GPU {}): NCCL {} failed: {}", what, place_.rank, host_name(), place_.gpu,
                         api_->version_text(), text_of(result)),
             result == Result::in_progress ? what : ""});
  refuse();
}

/// comm_mutex_ is held.
void Link::refuse() const {
  if (broken_.overdue.empty()) throw Error(broken_.text);
  throw CollectiveTimeout(broken_.text, broken_.overdue, place_.limit_seconds, "");
}

/// comm_mutex_ is held.
void Link::break_off(Trouble why) {
  broken_ = std::move(why);
  if (comm_ != nullptr) api_->comm_abort(std::exchange(comm_, nullptr));
}

// --- the watchdog -------------------------------------------------------------------------------------------------------

void Link::watch_loop() {
  std::unique_lock lock(watch_mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !watched_.empty(); });
    if (ending_) return;
    auto why = trouble();
    note_wait();
    if (why.text.empty()) {
      changed_.wait_for(lock, poll_interval, [&] { return ending_; });
      continue;
    }
    watched_.clear();
    lock.unlock();
    {
      const std::lock_guard comm_lock(comm_mutex_);
      if (comm_ != nullptr) break_off(std::move(why));
    }
    lock.lock();
  }
}

/// Forgets what is done; returns what is wrong with the first that is not. watch_mutex_ is held.
Link::Trouble Link::trouble() try {
  while (!watched_.empty() && watched_.front().event->test()) {
    watched_.pop_front();
    since_ = monotonic_seconds();
  }
  if (watched_.empty()) return {};
  const auto& first = watched_.front();
  const auto where = fmt::format("{} on rank {} ({})", first.what, place_.rank, host_name());
  if (monotonic_seconds() - since_ > with_margin(place_.limit_seconds))
    return {fmt::format("{}: not done on GPU {} after {} s: some rank has not joined it; NCCL does not tell which", where,
                        place_.gpu, place_.limit_seconds),
            first.what};
  const std::unique_lock comm_lock(comm_mutex_, std::try_to_lock);
  if (!comm_lock || comm_ == nullptr) return {};  // who holds it looks himself
  auto state = Result::success;
  api_->comm_get_async_error(comm_, &state);
  if (is_fine(state)) return {};
  return {fmt::format("{}: NCCL {} failed: {}", where, api_->version_text(), text_of(state)), ""};
} catch (const Error& error) {  // the GPU's
  return {error.what(), ""};
}

/// What the GPU has been at for a while, for whoever looks at the train thread. watch_mutex_ is held.
void Link::note_wait() {
  const bool is_long = !watched_.empty() && monotonic_seconds() - since_ > worth_saying_s;
  if (is_long || noted_) note_.set_on_device(is_long ? watched_.front().what + ", on the GPU" : "");
  noted_ = is_long;
}

bool Link::all_done_within(double seconds) {
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
