#include "trainer/reports/time_left.hpp"

#include "core/host.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/usage/forecast.hpp"

namespace trainrt::trainer {

namespace {

constexpr std::size_t max_attempts = 50;

}  // namespace

std::string TimeLeft::operator()() {
  if (meter_->read().expected <= 0) return {};
  if (!attempts_) attempts_ = rundir::read_attempts(run_dir_, max_attempts);
  if (attempts_->empty()) return {};
  rundir::fill_from_meter(attempts_->back(), *meter_);
  const auto forecast = rundir::forecast_of(*attempts_, utc_now());
  return forecast ? rundir::brief(*forecast) : "";
}

}  // namespace trainrt::trainer
