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

constexpr double longest_pause_s = 60;

}  // namespace

Restarts::Restarts(int most, Communicator& communicator) : most_(most) {
  const auto counted_before = Environment::of_process().number("TRAINRT_FAILURES");
  std::array<std::int64_t, 2> firsts = {counted_before.value_or(0), counted_before ? 1 : 0};
  communicator.broadcast(Buffer{firsts.data(), firsts.size(), DType::i64}, 0, "failures so far");
  failures_ = static_cast<int>(firsts[0]);
  is_watched_ = firsts[1] != 0;
}

void Restarts::count(const FailedTogether& failure) {
  ++failures_;
  ++here_;
  if (!restart_may_help(static_cast<int>(failure.code()))) throw comm::AgreedError(failure.what(), failure.code());
  if (failures_ > most_) give_up(failure);
  log::run_warning(fmt::format("{}: starting it again{}, restart {} of {} (failure.max_failures)",
                               first_line(failure.what()), pause_s() > 0 ? fmt::format(" in {:.0f} s", pause_s()) : "",
                               failures_, most_));
}

void Restarts::give_up(const FailedTogether& failure) const {
  if (is_watched_ || most_ == 0) throw comm::AgreedError(failure.what(), failure.code());
  throw comm::AgreedError(fmt::format("{}\ngiven up after {} (failure.max_failures = {}). Mend it and start the same "
                                      "command again: the run goes on from what it has saved",
                                      failure.what(), counted(failures_, "failure"), most_),
                          failure.code());
}

double Restarts::pause_s() const { return here_ < 2 ? 0 : std::min(longest_pause_s, std::exp2(std::min(here_, 10) - 2)); }

void wait_to_restart(double seconds, Session& session) {
  constexpr double look_s = 0.25;
  for (auto looks = std::lround(seconds / look_s); looks > 0; --looks) {
    std::this_thread::sleep_for(std::chrono::duration<double>(look_s));
    session.stop_point();
  }
}

}  // namespace trainrt::trainer
