#include "trainer/session/observation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "metrics/aggregate.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/reports/report_record.hpp"

namespace trainrt::trainer {

namespace {

constexpr double observed_sync_s = 10;  // interval in seconds at which observed records are synced to disk

std::unique_ptr<Reporter> reporter_of(const Observation::Parts& parts) {
  const auto& attempt = parts.attempt;
  if (!attempt.is_run) return make_silent_reporter();
  return make_reporter(parts.spec, {parts.spec.run_dir, attempt.private_dir}, parts.communicator.rank(), attempt.callbacks,
                       attempt.meter);
}

bool may_read_state(const Observation::Parts& parts) {
  return parts.attempt.is_run && std::ranges::any_of(chosen_sinks(parts.spec), [](const metrics::ChosenSink& sink) {
           return sink.kind->reads_state != nullptr && sink.kind->reads_state(sink.options);
         });
}

SpeedWatch::Setup speed_setup(const Observation::Parts& parts) {
  return {.log = parts.spec.run_dir + "/" + rundir::step_times_name(parts.attempt.number),
          .hosts = parts.attempt.hosts,
          .input_s = [&datasets = parts.datasets] { return datasets.waited_s(); },
          .judged = [&stops = parts.stops](const auto&... window) { stops.take_window(window...); }};
}

double number_in(const Metrics& metrics, std::string_view key) {
  const auto found = std::ranges::find(metrics, key, &Metrics::value_type::first);
  const auto* number = found == metrics.end() ? nullptr : std::get_if<Number>(&found->second.get());
  if (number == nullptr) throw UsageError(fmt::format("observe(): the metrics have no number '{}'", key));
  return number->value;
}

/// Returns the number of leading records whose iterations are 1, 2, 3, ... and whose value of `key` is below `position`.
std::int64_t count_before(const std::vector<metrics::Record>& records, std::string_view key, double position) {
  std::int64_t count = 0;
  for (const auto& record : records) {
    const auto number = record.number(key);
    if ((number && *number >= position) || record.iteration != count + 1) break;
    ++count;
  }
  return count;
}

}  // namespace

Observation::Observation(const Parts& parts)
    : parts_(parts),
      reporter_(reporter_of(parts)),
      sinks_read_state_(may_read_state(parts)),
      speeds_(parts.communicator, speed_setup(parts)) {}

void Observation::begin(const Begin& begin) {
  const auto& meter = parts_.attempt.meter;
  double iteration_s = begin.iteration_s;
  if (const double steps_begin_s = meter.steps_begin_s(); !begin.begins_now && steps_begin_s >= 0)
    iteration_s += monotonic_seconds() - steps_begin_s;
  parts_.progress.begin_iteration(iteration_s);
  const auto open = [&] {
    reporter_->begin({.step = parts_.progress.step(),
                      .iteration = begin.iteration,
                      .iteration_s = iteration_s,
                      .is_silent_program = meter.is_silent(),
                      .reports_of = begin.reports_of});
  };
  comm::collectively(parts_.communicator, open, with_advice);
  has_begun_ = true;
}

void Observation::begin_without_progress() {
  const auto iteration = count_records_before({}, 0);
  if (!parts_.attempt.meter.is_silent()) parts_.progress.set_iteration(iteration);
  begin({.iteration = iteration});
}

void Observation::expect_iterations(std::int64_t total) {
  parts_.attempt.meter.expect(static_cast<double>(total));
  reporter_->expect(total);
}

metrics::Record Observation::combine(const Metrics& metrics, const ReportOptions& options) {
  const auto combine = options.of_first_rank ? first_rank_report : aggregate_report;
  auto record = combine(metrics, parts_.progress.iteration() + 1, parts_.communicator);
  add_skipped_samples(record);
  return record;
}

void Observation::complete_iteration(const metrics::Record& record) {
  note_numbers(record);
  parts_.progress.complete_iteration(record.iteration);
}

/// Returns on all ranks whether a sink of rank 0 reads the State for this report.
bool Observation::sink_wants_state(std::int64_t iteration) {
  if (!sinks_read_state_) return false;
  std::array<std::int64_t, 1> wants = {reporter_->wants_state(iteration) ? 1 : 0};
  parts_.communicator.all_reduce(wants, Op::max, "whether a metrics sink reads the State");
  return wants[0] != 0;
}

void Observation::write(metrics::Record record, const Metrics& metrics, const std::function<const State&()>& state) {
  auto& callbacks = parts_.attempt.callbacks;
  if (callbacks.presence().all_ranks)
    callbacks.set_rank_metrics(reports_of_ranks(metrics, record.iteration, parts_.communicator));
  const State* shown = state && sink_wants_state(record.iteration) ? &state() : nullptr;
  if (shown != nullptr) shown->bring_up_to_date();  // collective if the State belongs to programs
  const auto write = [&] {
    if (shown != nullptr) reporter_->show(*shown, record.iteration);
    reporter_->write(std::move(record), parts_.progress.step(), time_so_far());
  };
  comm::collectively(parts_.communicator, write, with_advice);
}

batch::StopCause Observation::stop_by_callback() {
  const auto& callbacks = parts_.attempt.callbacks;
  if (!callbacks.presence().may_stop) return batch::no_stop;
  const auto [reason, pauses] = callbacks.stop();
  if (!reason.empty() && !pauses) parts_.stops.request(reason);
  std::array<std::int64_t, 1> cause = {reason.empty() ? batch::no_stop : pauses ? batch::paused : batch::ended_early};
  parts_.communicator.all_reduce(cause, Op::max, "whether a callback ends the run");
  return static_cast<batch::StopCause>(cause[0]);
}

void Observation::note_restored(std::int64_t iteration) {
  if (!parts_.attempt.callbacks.presence().may_stop) return;
  const auto ask = [&] {
    parts_.attempt.callbacks.restored(iteration);
    if (const auto [reason, pauses] = parts_.attempt.callbacks.stop(); !reason.empty()) parts_.stops.request(reason);
  };
  comm::collectively_on_first(parts_.communicator, ask, with_advice);
}

void Observation::observe(std::string_view position, const Metrics& seen) {
  auto& progress = parts_.progress;
  auto& meter = parts_.attempt.meter;
  const double at = number_in(seen, position);
  progress.set_observed_step(at);
  if (!has_begun_) {
    progress.set_iteration(count_records_before(position, at));
    begin({.iteration = progress.iteration()});
    synced_at_s_ = monotonic_seconds();
  }
  if (std::ranges::count(seen, "total", &Metrics::value_type::first) > 0) meter.expect(number_in(seen, "total"));
  auto record = metrics::decode(seen, metrics::encode(seen), progress.iteration() + 1);
  note_numbers(record);
  progress.complete_observation(at, record.iteration);
  static_cast<void>(parts_.stops.meets_rule(record.iteration, last_metrics_));  // a met rule stops the run at the next vote
  const bool is_sync_due = monotonic_seconds() - synced_at_s_ > observed_sync_s;
  const auto write = [&] {
    reporter_->write(std::move(record), progress.step(), time_so_far());
    if (!is_sync_due) return;
    reporter_->sync();
    reporter_->update_derived();
  };
  comm::collectively(parts_.communicator, write, with_advice);
  if (is_sync_due) synced_at_s_ = monotonic_seconds();
}

void Observation::check_score() {
  const auto& attribute = parts_.spec.checkpoint.score_attribute;
  if (attribute.empty()) return;
  if (const auto found = last_metrics_.find(attribute); found != last_metrics_.end()) {
    if (std::isnan(found->second)) warn_of_score("it is NaN in this report");
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : last_metrics_)
    if (!name.starts_with('_')) names.push_back(name);
  warn_of_score(fmt::format("the report has no number of that name; its numbers: {}{}",
                            names.empty() ? "none" : join(names), did_you_mean(attribute, names)));
}

void Observation::warn_of_score(const std::string& why) {
  if (std::exchange(has_warned_of_score_, true)) return;
  log::run_warning(fmt::format("checkpoint.score_attribute is '{}', but {}; checkpoints without this number rank last",
                               parts_.spec.checkpoint.score_attribute, why));
}

void Observation::set_last_metrics(std::map<std::string, double> metrics) { last_metrics_ = std::move(metrics); }

void Observation::end() {
  if (!has_begun_) return;
  reporter_->sync();
  reporter_->end();
}

void Observation::note_numbers(const metrics::Record& record) {
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : record.values)
    if (const auto number = metrics::Record::real_of(value)) numbers[key] = *number;
  set_last_metrics(std::move(numbers));
}

/// Adds the number of samples that the datasets of all ranks have skipped in this attempt to `record`. Collective.
void Observation::add_skipped_samples(metrics::Record& record) {
  if (!parts_.datasets.may_skip()) return;
  std::array<std::int64_t, 1> skipped = {static_cast<std::int64_t>(parts_.datasets.skipped())};
  parts_.communicator.all_reduce(skipped, Op::sum, "how many samples were skipped");
  record.values.emplace_back("_data_skipped", skipped[0]);
}

metrics::TimeSpent Observation::time_so_far() const {
  const auto timing = parts_.attempt.meter.read().timing;
  return {.startup_s = timing.startup_s,
          .checkpoint_s = timing.checkpoint_s,
          .data_s = parts_.datasets.waited_s(),
          .data_stages = parts_.datasets.stages(),
          .total_s = timing.total_s(),
          .steps_s = timing.steps_s};
}

/// Returns the number of records in result.json to keep if the program's output continues with value `position` of metric
/// `key`. If `key` is empty, all records are kept. Collective; rank 0 reads result.json.
std::int64_t Observation::count_records_before(std::string_view key, double position) {
  std::int64_t count = 0;
  const auto read = [&] { count = count_before(metrics::read_results(parts_.spec.run_dir), key, position); };
  comm::collectively_on_first(parts_.communicator, read, with_advice);
  parts_.communicator.broadcast(Buffer{&count, 1, DType::i64}, 0, "records of earlier attempts");
  return count;
}

}  // namespace trainrt::trainer
