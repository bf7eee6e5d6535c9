#include "data/bytes/stage_clock.hpp"

#include <chrono>
#include <utility>

namespace trainrt::data {

namespace {

/// State of the StageClock that is running in this thread.
struct ThreadClock {
  StageTimes* times = nullptr;  ///< nullptr: no clock is running
  std::uint64_t weight = 0;
  Stage stage = Stage::batch;
  std::chrono::steady_clock::time_point since;
};
thread_local ThreadClock thread_clock;

/// Ends the thread's current stage and adds the time spent in that stage to the statistics. Then begins `stage`. Returns
/// the stage that has ended.
Stage switch_to(Stage stage) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds passed = now - std::exchange(thread_clock.since, now);
  thread_clock.times->add(thread_clock.stage, static_cast<std::uint64_t>(passed.count()) * thread_clock.weight);
  return std::exchange(thread_clock.stage, stage);
}

}  // namespace

std::string_view name_of(Stage stage) {
  constexpr std::array<std::string_view, stage_count> names = {"storage", "decode", "transform", "batch"};
  return names[static_cast<std::size_t>(stage)];
}

std::array<double, stage_count> StageTimes::seconds() const {
  std::array<double, stage_count> all{};
  for (std::size_t i = 0; i < stage_count; ++i) all[i] = static_cast<double>(ns_[i].load(std::memory_order_relaxed)) * 1e-9;
  return all;
}

StageClock::StageClock(StageTimes& times, std::uint64_t weight) : is_running_(weight > 0 && thread_clock.times == nullptr) {
  if (is_running_) thread_clock = {&times, weight, Stage::batch, std::chrono::steady_clock::now()};
}

StageClock::~StageClock() {
  if (!is_running_) return;
  switch_to(Stage::batch);
  thread_clock.times = nullptr;
}

InStage::InStage(Stage stage) : before_(stage) {
  if (thread_clock.times != nullptr) before_ = switch_to(stage);
}

InStage::~InStage() {
  if (thread_clock.times != nullptr) switch_to(before_);
}

}  // namespace trainrt::data
