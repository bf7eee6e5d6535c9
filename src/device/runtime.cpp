#include "device/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "device/cuda_runtime.hpp"

namespace trainrt::device {

namespace {

std::atomic<Runtime*> replacement{nullptr};

}  // namespace

bool wait_within(Event& event, double limit_seconds) {
  constexpr double max_nap_s = 0.001;
  const auto start = monotonic_seconds();
  for (double waited = 0; !event.test(); waited = monotonic_seconds() - start) {
    if (waited > limit_seconds) return false;
    // Sleeps for a tenth of the time waited so far, so that a short wait is not prolonged much.
    std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(waited / 10, 1e-6, max_nap_s)));
  }
  return true;
}

void NoGpus::fail() const { throw UsageError("no GPU can be used: " + why_); }

Runtime& runtime() {
  auto* const other = replacement.load();
  return other != nullptr ? *other : cuda_runtime();
}

ReplacedRuntime::ReplacedRuntime(Runtime& other) : before_(replacement.exchange(&other)) {}
ReplacedRuntime::~ReplacedRuntime() { replacement = before_; }

}  // namespace trainrt::device
