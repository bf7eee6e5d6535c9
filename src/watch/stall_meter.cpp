#include "watch/stall_meter.hpp"

#include <algorithm>

namespace trainrt::watch {

namespace {

constexpr double collective_margin = 30;  // seconds added to the collective timeout
constexpr double min_automatic = 600;
constexpr double automatic_gaps = 20;

}  // namespace

StallMeter::StallMeter(const config::LimitOption& option, double collective_timeout, double tick)
    : option_(option),
      long_limit_(std::max(option.seconds, collective_timeout + collective_margin)),
      collective_timeout_(collective_timeout),
      tick_(tick) {}

double StallMeter::limit(bool waits) const {
  const bool by_user = option_.kind == config::LimitOption::Kind::seconds;
  if (last_.training_updates == 0) return by_user ? option_.seconds : min_automatic;
  if (last_.training_updates < (by_user ? 1U : 2U)) return long_limit_;
  if (by_user) return option_.seconds;
  const auto measured = std::max(min_automatic, automatic_gaps * max_gap_);
  const bool computes = !waits && last_.phase == Phase::training;
  return computes ? std::max(measured, collective_timeout_) : measured;
}

StallMeter::State StallMeter::observe(double elapsed, const Liveness::Snapshot& snapshot, bool waits) {
  if (option_.kind == config::LimitOption::Kind::off) return State::normal;
  quiet_ += std::clamp(elapsed, 0.0, 2 * tick_);
  if (snapshot.updates != last_.updates) {
    if (last_.training_updates > 0) max_gap_ = std::max(max_gap_, quiet_);
    last_ = snapshot;
    quiet_ = 0;
    postponed_ = 0;
  }
  if (quiet_ - postponed_ > limit(waits)) return State::stalled;
  return quiet_ > limit(true) / 4 ? State::suspicious : State::normal;
}

}  // namespace trainrt::watch
