#include "rundir/attempts/meter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/host.hpp"

namespace trainrt::rundir {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

Meter::Meter(double started_s, bool silent, bool observed, std::function<double()> program_ready_s)
    : started_s_(started_s), program_ready_s_(std::move(program_ready_s)), silent_(silent), observed_(observed) {}

void Meter::train_function_began() {
  began_at_s_.store(monotonic_seconds(), relaxed);
  if (silent_.load(relaxed)) notify();
}

void Meter::state_restored() { restored_at_s_.store(monotonic_seconds(), relaxed); }

double Meter::steps_begin_s() const {
  if (has_stepped()) return steps_at_s_.load(relaxed);
  const double called_s = began_at_s_.load(relaxed);
  if (called_s < 0 || !program_ready_s_) return called_s < 0 ? -1 : std::max(called_s, restored_at_s_.load(relaxed));
  // The program may have been ready before this attempt began (started_s_), for example if it opens several runs.
  const double ready_s = program_ready_s_();
  return ready_s < 0 ? -1 : std::max({ready_s, started_s_, restored_at_s_.load(relaxed)});
}

void Meter::note_api_call() {
  if (silent_.exchange(false, relaxed)) notify();
}

void Meter::restored(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint) {
  first_step_.store(step, relaxed);
  last_step_.store(step, relaxed);
  saved_step_.store(checkpoint < 0 ? -1 : step, relaxed);
  saved_checkpoint_.store(checkpoint, relaxed);
  first_iteration_.store(iteration, relaxed);
  saved_iteration_.store(checkpoint < 0 ? -1 : iteration, relaxed);
  iteration_.store(iteration, relaxed);
}

void Meter::stepped(std::int64_t step) {
  last_step_.store(step, relaxed);
  if (!has_stepped()) begin_steps();
}

void Meter::reported(std::int64_t iteration) {
  iteration_.store(iteration, relaxed);
  reported_at_s_.store(monotonic_seconds(), relaxed);
  if (!has_stepped()) begin_steps();
}

void Meter::observed(double position, std::int64_t iteration) {
  const auto step = static_cast<std::int64_t>(position);
  const bool is_first = position_.exchange(position, relaxed) < 0;
  last_step_.store(step, relaxed);
  iteration_.store(iteration, relaxed);
  if (!is_first) return;
  first_step_.store(step, relaxed);
  first_iteration_.store(iteration - 1, relaxed);
  notify();
}

void Meter::expect(double total) {
  constexpr double max_total = 9007199254740992.0;  // 2^53
  expected_.store(total >= 1 && total < max_total ? total : 0, relaxed);
}

void Meter::note_job_left(std::optional<double> seconds) {
  constexpr double no_limit_s = 1e9;
  job_ends_at_s_.store(seconds && *seconds < no_limit_s ? monotonic_seconds() + *seconds : -1, relaxed);
}

void Meter::begin_steps() {
  const double begin_s = steps_begin_s();
  steps_at_s_.store(begin_s < 0 ? monotonic_seconds() : begin_s, relaxed);
  notify();
}

void Meter::committed(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint) {
  saved_step_.store(step, relaxed);
  saved_checkpoint_.store(checkpoint, relaxed);
  saved_iteration_.store(iteration, relaxed);
  notify();
}

void Meter::training_ended() { ended_at_s_.store(monotonic_seconds(), relaxed); }

void Meter::notify() {
  {
    const std::lock_guard lock(mutex_);
    has_update_ = true;
  }
  updated_.notify_all();
}

double Meter::stalled_s() const {
  const double since = stall_at_s_.load(relaxed);
  return stalled_s_.load(relaxed) + (since < 0 ? 0 : std::max(0.0, monotonic_seconds() - since));
}

Meter::Stall::Stall(Meter& meter) : meter_(meter) {
  if (meter_.stalls_++ == 0) meter_.stall_at_s_.store(monotonic_seconds(), relaxed);
}

Meter::Stall::~Stall() {
  if (--meter_.stalls_ > 0) return;
  const double duration = monotonic_seconds() - meter_.stall_at_s_.exchange(-1, relaxed);
  meter_.stalled_s_.store(meter_.stalled_s_.load(relaxed) + duration, relaxed);
}

Meter::Reading Meter::read() const {
  Reading reading{.first_step = first_step_.load(relaxed),
                  .last_step = last_step_.load(relaxed),
                  .saved_step = saved_step_.load(relaxed),
                  .saved_checkpoint = saved_checkpoint_.load(relaxed),
                  .first_iteration = first_iteration_.load(relaxed),
                  .saved_iteration = saved_iteration_.load(relaxed),
                  .iteration = iteration_.load(relaxed),
                  .from_copy = from_copy_.load(relaxed),
                  .silent = is_silent(),
                  .position = observed_.load(relaxed) ? std::optional(position_.load(relaxed)) : std::nullopt,
                  .expected = expected_.load(relaxed),
                  .unreported_s = 0,
                  .job_left_s = std::nullopt,
                  .timing = {}};
  const double now = monotonic_seconds();
  const double ended = ended_at_s_.load(relaxed);
  const double train_end = ended < 0 ? now : std::min(ended, now);
  // A train function that has made no step or report may still restore its State; until then, its time counts as
  // start-up. For a program that has made no call, all time since its start counts as steps.
  const bool is_known = silent_.load(relaxed) || has_stepped() || restored_at_s_.load(relaxed) >= 0;
  const double begun = is_known ? steps_begin_s() : -1;
  const double steps_begin = begun < 0 ? train_end : std::min(begun, train_end);
  auto& timing = reading.timing;
  timing.checkpoint_s = stalled_s();
  timing.startup_s = steps_begin - started_s_;
  timing.steps_s = train_end - steps_begin;
  timing.shutdown_s = now - train_end;
  // Waits for saves are subtracted from the time of the steps. If a save was made before the first step or after the last
  // one, the rest is subtracted from the times of start-up and shutdown.
  double excess = timing.checkpoint_s;
  for (double* part : {&timing.steps_s, &timing.startup_s, &timing.shutdown_s}) {
    const double taken = std::min(*part, excess);
    *part -= taken;
    excess -= taken;
  }
  const double reported_at = reported_at_s_.load(relaxed);
  if (!reading.silent)
    reading.unreported_s = std::clamp(train_end - std::max(reported_at, steps_begin), 0.0, timing.steps_s);
  if (const double job_ends_at = job_ends_at_s_.load(relaxed); job_ends_at >= 0)
    reading.job_left_s = std::max(0.0, job_ends_at - now);
  return reading;
}

bool Meter::wait_for_update(double seconds) {
  std::unique_lock lock(mutex_);
  updated_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return has_update_ || released_; });
  has_update_ = false;
  return !released_;
}

void Meter::release() {
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
  }
  updated_.notify_all();
}

}  // namespace trainrt::rundir
