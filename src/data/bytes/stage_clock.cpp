#include "data/bytes/stage_clock.hpp"

#include <time.h>

#include <utility>

namespace trainrt::data {

namespace {

/// Of this thread.
struct StageWatch {
  StageTimes* times = nullptr;
  std::uint64_t weight = 0;
  Stage stage = Stage::batch;
  std::uint64_t since_ns = 0;
};
thread_local StageWatch stage_watch;

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

Stage turn_to(Stage stage) {
  const auto now = now_ns();
  stage_watch.times->add(stage_watch.stage, (now - std::exchange(stage_watch.since_ns, now)) * stage_watch.weight);
  return std::exchange(stage_watch.stage, stage);
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

StageClock::StageClock(StageTimes& times, std::uint64_t weight) : counts_(weight > 0 && stage_watch.times == nullptr) {
  if (counts_) stage_watch = {&times, weight, Stage::batch, now_ns()};
}

StageClock::~StageClock() {
  if (!counts_) return;
  turn_to(Stage::batch);
  stage_watch.times = nullptr;
}

InStage::InStage(Stage stage) : before_(stage) {
  if (stage_watch.times != nullptr) before_ = turn_to(stage);
}

InStage::~InStage() {
  if (stage_watch.times != nullptr) turn_to(before_);
}

}  // namespace trainrt::data
