#include "trainer/saving/save_schedule.hpp"

#include <algorithm>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::trainer {

using Unit = config::CheckpointInterval::Unit;

FailureHistory failure_history(const config::RunSpec& spec) {
  if (spec.checkpoint.every.unit != Unit::automatic) return {};
  return history_of(rundir::read_attempts(spec.run_dir, history_attempts));
}

SaveSchedule::SaveSchedule(config::CheckpointInterval every, const FailureHistory& history, int nodes,
                           const rundir::Meter& meter)
    : every_(every), auto_interval_(history, nodes), meter_(meter), began_s_(monotonic_seconds()) {}

bool SaveSchedule::is_due(bool has_reported, bool is_in_flight) const {
  if (every_.unit == Unit::seconds) return every_.due_after(since_begin_s());
  if (every_.unit != Unit::automatic || is_in_flight) return false;
  const double idle_since_s = std::max(began_s_, meter_.steps_begin_s());
  return auto_interval_.is_due(monotonic_seconds() - idle_since_s, has_reported);
}

void SaveSchedule::begin_save(bool is_typical) {
  began_s_ = monotonic_seconds();
  stalled_before_s_ = meter_.stalled_s();
  is_typical_ = is_typical;
}

void SaveSchedule::learn() {
  if (every_.unit != Unit::automatic || !is_typical_) return;
  const double attempt_s = monotonic_seconds() - meter_.started_s();
  const auto change = auto_interval_.learn(meter_.stalled_s() - stalled_before_s_, since_begin_s(), attempt_s);
  if (change) log::info(*change);
}

double SaveSchedule::since_begin_s() const { return monotonic_seconds() - began_s_; }

}  // namespace trainrt::trainer
