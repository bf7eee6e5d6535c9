#include "trainer/stops/stop_reasons.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"

namespace trainrt::trainer {

double StopMargin::Recent::max() const { return *std::ranges::max_element(values_); }

std::optional<double> StopMargin::seconds(std::optional<double> job_s) const {
  const auto wanted = wanted_seconds();
  return wanted && job_s && *wanted >= *job_s ? *job_s / 2 : wanted;
}

std::string StopMargin::warning_for(double job_s) const {
  const auto wanted = wanted_seconds();
  if (!wanted || 2 * *wanted <= job_s) return {};
  const bool is_given = option_.kind == config::LimitOption::Kind::seconds;
  const auto key = fmt::format("failure.stop_before_end = {} requires {:.0f} s",
                               is_given ? fmt::format("{:g} s", option_.seconds) : "auto", *wanted);
  const auto part = !is_given && end_s_ > 0 ? fmt::format(" (of which train.stop_timeout = {:g} s)", end_s_) : "";
  const auto* advice = is_given ? "Set a shorter time, or ask for a longer job" : "Ask for a longer job";
  if (*wanted >= job_s)
    return fmt::format("{}{}, but the job has only {:.0f} s. The run stops {:.0f} s before the end of the job. {}", key,
                       part, job_s, job_s / 2, advice);
  return fmt::format("{}{} of the job's {:.0f} s, so that only {:.0f} s are left for training in each job. {}", key, part,
                     job_s, job_s - *wanted, advice);
}

std::optional<double> StopMargin::wanted_seconds() const {
  constexpr double fixed = 15;
  switch (option_.kind) {
    case config::LimitOption::Kind::off:
      return std::nullopt;
    case config::LimitOption::Kind::seconds:
      return option_.seconds;
    case config::LimitOption::Kind::automatic:
      return fixed + end_s_ + 2 * max_save_s() + 2 * gaps_.max();
  }
  return std::nullopt;
}

namespace {

/// Returns the values of [loop] and [stop] as text. A run that ended early continues if this text has changed.
std::string settings_text(const config::RunSpec& spec) {
  std::string text;
  for (const auto* section : {&spec.loop, &spec.stop})
    for (const auto& [key, value] : section->texts()) text += key + "=" + value + "\n";
  return text;
}

/// Returns the expected duration of the first save of `state`, in seconds, at 100 MB/s per rank.
double expected_save_seconds(const State& state) {
  double bytes = 0;
  for (const auto& tensor : state.tensors()) bytes += static_cast<double>(tensor.local.bytes());
  return bytes / 100e6;
}

}  // namespace

StopMargin stop_margin(const config::RunSpec& spec) {
  return StopMargin(spec.failure.stop_before_end, spec.train.program.empty() ? 0 : spec.train.stop_timeout_s);
}

StopReasons::StopReasons(const config::RunSpec& spec, const batch::Lease* lease, std::vector<std::string> hosts)
    : lease_(lease),
      rules_(spec.stop, settings_text(spec)),
      margin_(stop_margin(spec)),
      slow_nodes_({spec.failure.exclude_slow, spec.failure.exclude_slow_after_s}, std::move(hosts), refusal_to_exclude()) {}

void StopReasons::take_restored(const State& state) {
  if (const auto reason = rules_.noted_end(); !reason.empty()) request(reason);
  margin_.expect_save(expected_save_seconds(state));
}

void StopReasons::request(std::string_view reason) {
  if (end_reason_.empty()) end_reason_ = reason.empty() ? "requested by the train function" : std::string(reason);
}

bool StopReasons::meets_rule(std::int64_t iteration, const std::map<std::string, double>& metrics) {
  if (const auto missing = rules_.missing(metrics); !missing.empty() && !std::exchange(has_warned_of_rule_, true))
    log::run_warning(fmt::format(
        "[stop] names {}, but the report has no number of that name; report this number, or remove the key from [stop]",
        join(missing)));
  const auto reason = rules_.check(iteration, metrics);
  if (reason) request(*reason);
  return reason.has_value();
}

void StopReasons::note_point() {
  const auto now = monotonic_seconds();
  if (last_point_s_ > 0) margin_.note_gap(now - last_point_s_);
  last_point_s_ = now;
  warn_of_margin();
}

void StopReasons::warn_of_margin() {
  const auto job_s = has_warned_of_margin_ ? std::nullopt : job_seconds();
  if (!job_s) return;
  const auto warning = margin_.warning_for(*job_s);
  has_warned_of_margin_ = !warning.empty();
  if (has_warned_of_margin_) log::run_warning(warning);
}

batch::StopCause StopReasons::cause() const {
  if (!end_reason_.empty()) return batch::ended_early;
  if (is_time_up()) return batch::time_is_up;
  return slow_nodes_.found() != nullptr ? batch::slow_node : batch::stop_signal();
}

bool StopReasons::is_time_up() const {
  if (lease_ == nullptr) return false;
  const auto left = lease_->remaining();
  const auto needed = margin_.seconds(job_seconds());
  return left && needed && *left < *needed;
}

bool StopReasons::agree_on_end(Communicator& communicator) {
  const auto reasons = communicator.all_gather(end_reason_);
  end_reason_ = *std::ranges::find_if(reasons, [](const auto& reason) { return !reason.empty(); });
  if (rules_.noted_end() == end_reason_) return false;
  rules_.note_end(end_reason_);
  return true;
}

void StopReasons::log_time_left() const {
  if (const auto left = lease_ != nullptr ? lease_->remaining() : std::nullopt)
    log::info(fmt::format("{:.0f} s left in the job; saving and stopping may take {:.0f} s; stopping now",
                          std::max(0.0, *left), margin_.seconds(job_seconds()).value_or(0)));
}

std::string StopReasons::describe(batch::StopCause cause) const {
  if (cause == batch::slow_node && slow_nodes_.found() != nullptr) return slow_nodes_.found()->why;
  return cause == batch::ended_early ? end_reason_ : batch::describe(cause);
}

}  // namespace trainrt::trainer
