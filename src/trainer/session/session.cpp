#include "trainer/session/session.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/manifest.hpp"
#include "comm/agreement.hpp"
#include "config/program_settings.hpp"
#include "core/fault_point.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/reports/reporter.hpp"

namespace trainrt {

using comm::AgreedError;
using trainer::StopVote;
using watch::InPhase;
using watch::Phase;

Session::Session(const config::RunSpec& spec, const World& world, Communicator& communicator, trainer::AttemptInfo attempt)
    : spec_(spec),
      world_(world),
      communicator_(communicator),
      attempt_(std::move(attempt)),
      reporter_(attempt_.is_run ? trainer::make_reporter(spec, {spec.run_dir, attempt_.private_dir}, communicator.rank(),
                                                         attempt_.callbacks, attempt_.meter)
                                : trainer::make_silent_reporter()),
      vote_(communicator_),
      datasets_(spec_, communicator_, attempt_.workers, attempt_.datasets, attempt_.shares),
      speeds_(communicator_,
              {spec_.run_dir + "/" + rundir::step_times_name(attempt_.number), attempt_.hosts,
               [this] { return datasets_.waited_s(); }, [this](const auto&... window) { stops_.take_window(window...); }}),
      iteration_at_s_(monotonic_seconds()),
      stops_(spec, attempt_.lease, attempt_.hosts),
      replicas_(spec_, communicator_),
      saves_({spec_, attempt_, *reporter_, stops_.margin(), life_, replicas_}, world, communicator_) {
  progress_.ranks = communicator.size();
  progress_.seed = static_cast<std::int64_t>(spec.run.seed);
  if (!world.gpus.empty() && spec.train.program.empty()) datasets_.pin_for(device::runtime());
}

Session::~Session() = default;

// --- what the train function asks -----------------------------------------------------------------------------------

const OptionValue* Session::loop_value(std::string_view key) {
  read_keys_.emplace(key);
  return spec_.loop_value(key);
}

FrameworkMeeting Session::framework(Context& ctx, const std::string& name) {
  if (!attempt_.framework)
    throw UsageError(
        fmt::format("the workers of {} find each other by what the command trainrt serves; this program has a "
                    "main of its own",
                    name));
  return meetings_.emplace_back(attempt_.framework(ctx, name));
}

/// Once: what is read is read before the training begins.
void Session::warn_of_unread_keys(std::string_view until) {
  if (std::exchange(unread_reported_, true)) return;
  for (const auto& key : spec_.loop.keys())
    if (!read_keys_.contains(key) && !config::is_record_of_python(key) &&
        spec_.loop.find(key)->origin != config::origin_of_program)
      log::run_warning(fmt::format("[loop] {} was not read by the train function before {} (a typing error?)", key, until));
}

// --- steps and reports ------------------------------------------------------------------------------------------------

void Session::set_metadata(std::string_view json) {
  checkpoint::check_metadata(json);
  metadata_ =
      attempt_.metadata == "{}" ? std::string(json) : checkpoint::merged_metadata(attempt_.metadata, std::string(json));
}

/// The first iteration of the attempt counts from when it can have begun; while a State is restored, from here on.
void Session::begin_reports(std::int64_t iteration, double iteration_s, const std::string& other_run) {
  const bool restores_state = attached_ && !saves_by_directory_ && !attempt_.meter.has_stepped();
  const double now_s = monotonic_seconds(), begin_s = attempt_.meter.steps_begin_s();
  if (!restores_state && begin_s >= 0) iteration_s += now_s - begin_s;
  comm::collectively(
      communicator_,
      [&] {
        reporter_->begin({progress_.step, iteration, iteration_s, is_silent(), other_run});
      },
      trainer::with_advice);
  reports_begun_ = true;
  iteration_at_s_ = now_s - iteration_s;
}

StopVote::Ballot Session::ballot(const DirectoryCheckpoint* directory) const {
  using Wants = StopVote::Wants;
  const bool gives = directory != nullptr && (!directory->path.empty() || directory->state != nullptr);
  const auto wants = gives ? Wants::directory : saves_.is_due_by_clock(reported_) ? Wants::checkpoint : Wants::nothing;
  return {.stop = stops_.cause(), .wants = wants, .saves = saves_.progress()};
}

void Session::throw_if_stopped() const {
  if (stopped_by_ != batch::no_stop) throw StopRun{};
}

/// What predicts or checks has no run to save or to report to.
void Session::require_training(std::string_view call) const {
  if (!attempt_.is_run)
    throw UsageError(fmt::format("the train function's predict or check called {}, which belongs to training", call));
}

void Session::warn_if_unattached() {
  if (attached_ || std::exchange(warned_, true)) return;
  log::run_warning(
      "the train function did not call ctx.restore(state): there is nothing to save, and a stopped run begins again");
}

void Session::warn_of_missing_score() {
  const auto& attribute = spec_.checkpoint.score_attribute;
  if (attribute.empty()) return;
  const auto found = last_metrics_.find(attribute);
  const bool is_missing = found == last_metrics_.end();
  if ((!is_missing && !std::isnan(found->second)) || std::exchange(score_warned_, true)) return;
  log::run_warning(fmt::format("checkpoint.score_attribute is '{}', and {}: such checkpoints rank worst", attribute,
                               is_missing ? "the report has no number of that name" : "that number is NaN in the report"));
}

void Session::step() {
  throw_if_stopped();
  require_training("step()");
  fault_point("step");
  attempt_.meter.note_api_call();
  warn_if_unattached();
  warn_of_unread_keys("its first step");
  note_place();
  ++progress_.step;
  attempt_.meter.stepped(progress_.step);
  life_.progress(progress_.step, Phase::training);
  communicator_.at_step(progress_.step);
  const auto outcome = vote_.finish();
  stepped_ = true;
  saves_.advance(outcome.saves);
  if (replicas_.is_due_at(progress_.step)) compare_replicas();
  obey(outcome, spec_.checkpoint.every.due_at_step(progress_.step));
  vote_.start(ballot(), StopVote::Call::step);
  speeds_.end_step(progress_.step);
}

void Session::compare_replicas() {
  const rundir::Meter::Stall stall(attempt_.meter);
  const trainer::SpeedWatch::InWork at(speeds_, watch::Work::save);
  const InPhase comparing(life_, Phase::checkpoint);
  saves_.finish();  // it may be written from what is brought up to date now
  state_.bring_up_to_date();
  replicas_.compare_all(progress_.step);
}

void Session::stop_point() {
  throw_if_stopped();
  life_.progress(progress_.step);
  const auto outcome = vote_.finish();
  saves_.advance(outcome.saves);
  obey(outcome, false);
  vote_.start(ballot(), StopVote::Call::stop_point);
}

void Session::stop_if_asked() {
  vote_.finish();
  obey(vote_.now(ballot(), StopVote::Call::stop_point), false);
}

void Session::take_record(const metrics::Record& record) {
  progress_.iteration = record.iteration;
  iteration_at_s_ = monotonic_seconds();
  last_metrics_.clear();
  for (const auto& [key, value] : record.values)
    if (const auto number = metrics::Record::real_of(value)) last_metrics_[key] = *number;
}

void Session::report(const Metrics& metrics, const ReportOptions& options, const DirectoryCheckpoint* directory) {
  throw_if_stopped();
  require_training("report()");
  fault_point("report");
  attempt_.meter.note_api_call();
  const trainer::SpeedWatch::InWork at(speeds_, watch::Work::report);
  warn_of_unread_keys("its first report");
  life_.progress(progress_.step, Phase::training);
  if (!reports_begun_) begin_reports(0);
  const auto earlier = vote_.finish();
  auto outcome =
      vote_.now(ballot(directory), options.of_first_rank ? StopVote::Call::report_of_first : StopVote::Call::report);
  std::optional<Given> given;
  if (outcome.wants == StopVote::Wants::directory) given = gather(directory);
  outcome.stop = std::max(outcome.stop, earlier.stop);
  outcome.wants = std::max(outcome.wants, earlier.wants);
  warn_if_unattached();

  const auto take = options.of_first_rank ? trainer::first_rank_report : trainer::aggregate_report;
  auto record = take(metrics, progress_.iteration + 1, communicator_);
  add_skipped(record);
  take_record(record);
  reported_ = true;
  attempt_.meter.reported(progress_.iteration);
  const bool is_scored_later = given && !given->files.validation.empty();
  if ((given || saves_state()) && !is_scored_later) warn_of_missing_score();
  if (stops_.meets_rule(progress_.iteration, last_metrics_)) outcome.stop = batch::ended_early;
  note_place();
  if (attempt_.callbacks.presence().all_ranks)
    attempt_.callbacks.take_ranks(trainer::reports_of_ranks(metrics, progress_.iteration, communicator_));
  const auto write = [&] {
    if (attached_) reporter_->show(state_, progress_.iteration);
    reporter_->write(std::move(record), progress_.step, time_so_far());
  };
  comm::collectively(communicator_, write, trainer::with_advice);
  outcome.stop = std::max(outcome.stop, stop_by_callback());
  datasets_.warn_if_starving();
  fault_point("reported");
  saves_.advance(outcome.saves);
  obey(outcome, spec_.checkpoint.every.due_at_report(progress_.iteration), given ? &*given : nullptr);
  if (!std::exchange(stepped_, false)) speeds_.end_step(progress_.step);
}

/// Whether one of rank 0's callbacks ends the run, or pauses it. Collective.
batch::StopCause Session::stop_by_callback() {
  if (!attempt_.callbacks.presence().may_stop) return batch::no_stop;
  const auto [reason, pauses] = attempt_.callbacks.stop();
  if (!reason.empty() && !pauses) stops_.request(reason);
  std::array<std::int64_t, 1> cause = {reason.empty() ? batch::no_stop : pauses ? batch::paused : batch::ended_early};
  communicator_.all_reduce(cause, Op::max, "whether a callback ends the run");
  return static_cast<batch::StopCause>(cause[0]);
}

/// Samples that datasets have skipped on all ranks, in this attempt.
void Session::add_skipped(metrics::Record& record) {
  if (!datasets_.may_skip()) return;
  std::array<std::int64_t, 1> skipped = {static_cast<std::int64_t>(datasets_.skipped())};
  communicator_.all_reduce(skipped, Op::sum, "how many samples were skipped");
  record.values.emplace_back("_data_skipped", skipped[0]);
}

metrics::TimeSpent Session::time_so_far() const {
  const auto timing = attempt_.meter.read().timing;
  return {.startup_s = timing.startup_s,
          .checkpoint_s = timing.checkpoint_s,
          .data_s = datasets_.waited_s(),
          .data_stages = datasets_.stages(),
          .total_s = timing.total_s(),
          .steps_s = timing.steps_s};
}

void Session::obey(const StopVote::Outcome& outcome, bool checkpoint_due, const Given* reported) {
  if (outcome.stop == batch::ended_early && stops_.agree_on_end(communicator_)) {
    saves_.finish();  // one on its way lacks the end as well
    saves_.outdate();
  }
  const bool is_due = saves_state() && (checkpoint_due || outcome.wants != StopVote::Wants::nothing);
  if (reported != nullptr || is_due) save(reported);
  if (outcome.stop != batch::no_stop) stop(outcome.stop);
}

void Session::stop(batch::StopCause cause) {
  if (cause == batch::time_is_up) stops_.say_time_is_up();
  save_at_stop(cause);
  stopped_by_ = cause;
  life_.progress(progress_.step, Phase::finishing);  // a program may take its time to end
  throw StopRun{};
}

}  // namespace trainrt
