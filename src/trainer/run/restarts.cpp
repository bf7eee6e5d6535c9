#include "trainer/run/restarts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/restart_help.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

namespace {

constexpr double max_pause_s = 60;

}  // namespace

Restarts::Restarts(int max_failures, Communicator& communicator) : max_failures_(max_failures) {
  const auto counted_before = Environment::of_process().number("TRAINRT_FAILURES");
  std::array<std::int64_t, 2> values = {counted_before.value_or(0), counted_before ? 1 : 0};
  communicator.broadcast(Buffer{values.data(), values.size(), DType::i64}, 0, "number of earlier failures");
  failures_ = static_cast<int>(values[0]);
  is_watched_ = values[1] != 0;
}

void Restarts::count(const FailedTogether& failure) {
  ++failures_;
  ++own_failures_;
  if (!restart_may_help(static_cast<int>(failure.code()))) throw comm::AgreedError(failure.what(), failure.code());
  if (failures_ > max_failures_) give_up(failure);
  log::run_warning(fmt::format("{}: restarting the run{}, restart {} of {} (failure.max_failures)",
                               first_line(failure.what()), pause_s() > 0 ? fmt::format(" in {:.0f} s", pause_s()) : "",
                               failures_, max_failures_));
}

void Restarts::give_up(const FailedTogether& failure) const {
  if (is_watched_ || max_failures_ == 0) throw comm::AgreedError(failure.what(), failure.code());
  throw comm::AgreedError(fmt::format("{}\ngiven up after {} (failure.max_failures = {}). Fix the problem and run the same "
                                      "command again; the run resumes from its last saved state",
                                      failure.what(), counted(failures_, "failure"), max_failures_),
                          failure.code());
}

double Restarts::pause_s() const {
  return own_failures_ < 2 ? 0 : std::min(max_pause_s, std::exp2(std::min(own_failures_, 10) - 2));
}

void wait_to_restart(double seconds, Session& session) {
  constexpr double interval_s = 0.25;
  for (auto intervals = std::lround(seconds / interval_s); intervals > 0; --intervals) {
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
    session.stop_point();
  }
}

}  // namespace trainrt::trainer
