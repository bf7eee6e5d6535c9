#include "trainer/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "checkpoint/file_layout.hpp"
#include "checkpoint/metadata.hpp"
#include "checkpoint/phases.hpp"
#include "checkpoint/whole_view.hpp"
#include "core/fault_point.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "data/open_dataset.hpp"
#include "metrics/aggregate.hpp"
#include "trainer/agreement.hpp"

namespace trainrt {

using trainer::AgreedError;
using trainer::InPhase;
using trainer::Phase;
using trainer::StopVote;

namespace {

void pass_phase(checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); }

/// Loading fails on all ranks or on none.
template <class Load>
auto agreed_load(Load&& load) {
  try {
    return load();
  } catch (const Error& error) {
    throw AgreedError(error.what(), error.code());
  }
}

checkpoint::SaverOptions saver_options(const trainer::RunSpec& spec, const World& world, const AttemptInfo& attempt) {
  checkpoint::SaverOptions options;
  options.run_dir = spec.run_dir;
  options.private_dir = attempt.private_dir;
  options.makes_private_dir = false;
  options.file_of_rank = checkpoint::files_of_ranks(spec.checkpoint_layout, world.node_of_rank);
  options.retention = spec.retention;
  options.writer.staging_bytes = spec.checkpoint_staging_bytes;
  options.writer.threads = spec.checkpoint_io_threads;
  options.writer.read_back = spec.checkpoint_read_back;
  options.writer.stuck_s = spec.collective_timeout_s;
  options.writer.visible_s = spec.storage_timeout_s;
  options.writer.observer = pass_phase;
  options.writer.say = [](const std::string& text) { log::run_warning(text); };
  return options;
}

/// What may be changed to let a run that has finished go on.
std::string settings_text(const trainer::RunSpec& spec) {
  std::string text;
  for (const auto* section : {&spec.loop, &spec.stop})
    for (const auto& [key, value] : section->texts()) text += key + "=" + value + "\n";
  return text;
}

/// A guess at how long a save takes, until one has been measured: 100 MB/s a rank.
double expected_save_seconds(const State& state) {
  double bytes = 0;
  for (const auto& tensor : state.tensors()) bytes += static_cast<double>(tensor.local.bytes());
  return bytes / 100e6;
}

}  // namespace

Session::Session(const trainer::RunSpec& spec, const World& world, Communicator& communicator, AttemptInfo attempt)
    : spec_(spec),
      world_(world),
      communicator_(communicator),
      attempt_(std::move(attempt)),
      reporter_(trainer::make_reporter(spec, {spec.run_dir, attempt_.private_dir}, communicator.rank())),
      vote_(communicator),
      last_save_s_(monotonic_seconds()),
      stop_rules_(spec.stop, settings_text(spec)),
      stop_margin_(spec.stop_before_end),
      auto_interval_(attempt_.history, world.node_count),
      saver_(saver_options(spec, world, attempt_), communicator) {
  progress_.ranks = communicator.size();
  progress_.seed = static_cast<std::int64_t>(spec.seed);
  next_checkpoint_ = communicator.all_reduced(checkpoint::highest_index(spec.run_dir), Op::max) + 1;
  for (const auto& [name, options] : spec_.data) cursors_[name];
}

Session::~Session() = default;

// --- what the train function asks -----------------------------------------------------------------------------------

const OptionValue* Session::loop_value(std::string_view key) {
  read_keys_.emplace(key);
  return spec_.loop.find(key);
}

std::vector<std::string> Session::unread_loop_keys() const {
  std::vector<std::string> unread;
  for (const auto& key : spec_.loop.keys())
    if (!read_keys_.contains(key)) unread.push_back(key);
  return unread;
}

Dataset Session::dataset(const std::string& name) {
  const auto open = datasets_.find(name);
  if (open != datasets_.end()) return Dataset(open->second);
  const auto section = spec_.data.find(name);
  if (section == spec_.data.end()) {
    std::vector<std::string> names;
    for (const auto& [known, options] : spec_.data) names.push_back(known);
    throw UsageError(
        fmt::format("the train function asks for the dataset '{}', and the config has no [data.{}]{}; it has: {}", name,
                    name, did_you_mean(name, names), names.empty() ? "none" : join(names)));
  }
  const Shard shard{communicator_.rank(), communicator_.size(), attempt_.workers};
  auto impl = data::open_dataset(name, section->second, shard, spec_.seed);
  const auto& stored = cursors_[name];
  impl->cursor = {stored.in_progress, stored.epoch, stored.position};
  impl->restored = stored.epoch >= 0;
  datasets_.emplace(name, impl);
  return Dataset(impl);
}

// --- state ------------------------------------------------------------------------------------------------------------

void Session::attach(const State& user) {
  if (attached_) throw UsageError("restore() was called twice: it attaches the one State of the run");
  attached_ = true;
  state_.append(user);
  state_.value("trainrt/iteration", progress_.iteration);
  state_.value("trainrt/step", progress_.step);
  state_.value("trainrt/ranks", progress_.ranks);
  state_.value("trainrt/seed", progress_.seed);
  stop_rules_.attach(state_);
  for (auto& [name, cursor] : cursors_) {
    const auto folder = "trainrt/data/" + name + "/";
    state_.value(folder + "in_progress", cursor.in_progress).optional = true;
    state_.value(folder + "epoch", cursor.epoch).optional = true;
    state_.value(folder + "position", cursor.position).optional = true;
  }
}

bool Session::restore(State& state) {
  if (has_progress()) throw UsageError("restore() comes before the first step() and report()");
  fault_point("load");
  const InPhase loading(life_, Phase::loading);
  attach(state);
  const bool restored = restore_own() || resume_from_other();
  if (!reports_begun_) begin_reports(0);
  if (spec_.checkpoint_every.unit != trainer::CheckpointInterval::Unit::off) saver_.prepare(state_);
  if (const auto reason = stop_rules_.noted_end(); !reason.empty()) request_stop(reason);
  stop_margin_.expect_save(expected_save_seconds(state_));
  stop_if_asked();  // a load may be long
  return restored;
}

bool Session::restore_own() {
  const auto loaded = agreed_load([&] { return checkpoint::load_latest(state_, spec_.run_dir, communicator_); });
  if (!loaded) return false;
  for (const auto& reason : loaded->skipped) log::run_warning(reason);
  follow_up(*loaded);
  take_restored(loaded->directory, loaded->meta.ranks);
  return true;
}

/// What a run that was killed after a commit had no time for: its view, and deletions.
void Session::follow_up(const checkpoint::LoadResult& loaded) const {
  if (communicator_.rank() == 0) try {
      checkpoint::restore_view(loaded.directory, attempt_.private_dir);
      checkpoint::retain(spec_.run_dir, attempt_.private_dir, spec_.retention, pass_phase);
    } catch (const Error& error) {
      log::warning(std::string("what an earlier attempt left undone stays so: ") + error.what());
    }
}

bool Session::resume_from_other() {
  if (spec_.resume_from.empty()) return false;
  const auto partial =
      agreed_load([&] { return checkpoint::load_from(state_, spec_.resume_from, spec_.resume_tensors, communicator_); });
  for (const auto& reason : partial.loaded.skipped) log::run_warning(reason);
  progress_.iteration = 0;  // of this run
  progress_.ranks = communicator_.size();
  progress_.seed = static_cast<std::int64_t>(spec_.seed);
  attempt_.meter.restored(progress_.step, -1, progress_.iteration);
  put_back_cursors();
  log::info(fmt::format("a new run, started from {} ({} entries taken, step {})", partial.loaded.directory,
                        partial.taken.size(), progress_.step));
  if (!partial.missing.empty())
    log::run_warning(fmt::format("asked for, but not in that checkpoint, so left as they were: {}", join(partial.missing)));
  if (!partial.unused.empty())
    log::info(fmt::format("in that checkpoint, but not in this State: {}", join(partial.unused)));
  return true;
}

void Session::put_back_cursors() {
  for (auto& [name, impl] : datasets_) {  // those that were opened before restore()
    const auto& stored = cursors_[name];
    impl->cursor = {stored.in_progress, stored.epoch, stored.position};
    impl->restored = stored.epoch >= 0;
  }
}

void Session::take_restored(const std::string& directory, int ranks) {
  if (progress_.seed != static_cast<std::int64_t>(spec_.seed))
    throw AgreedError(
        fmt::format(
            "run.seed is {}, but the run began with {}: a run keeps its seed (give it back, or start a run of another "
            "name)",
            spec_.seed, progress_.seed),
        ExitCode::usage);
  progress_.ranks = communicator_.size();
  saved_ = progress_;
  attempt_.meter.restored(progress_.step, saved_.step, progress_.iteration);
  put_back_cursors();
  log::info(fmt::format("continuing from {} (step {}, iteration {})", directory, progress_.step, progress_.iteration));
  if (ranks != communicator_.size())
    log::info(fmt::format(
        "it was saved by {} ranks and is loaded by {}: the run goes on exactly in what it computes, but sums have another "
        "order now and bits may differ",
        ranks, communicator_.size()));
  begin_reports(progress_.iteration);
}

void Session::start_save() {
  const trainer::Meter::Stall stall(attempt_.meter);
  const InPhase saving(life_, Phase::checkpoint);
  conclude(measured(saver_.finish()));  // one at a time, in order
  checkpoint::Saver::Request request;
  request.meta.index = next_checkpoint_++;
  request.meta.iteration = progress_.iteration;
  request.meta.step = progress_.step;
  request.meta.attempt = attempt_.number;
  request.meta.metrics = last_metrics_;
  request.meta.metadata = metadata_;
  request.before_commit = [this] { reporter_->sync(); };
  flying_ = progress_;
  last_save_s_ = monotonic_seconds();
  stalled_before_save_s_ = attempt_.meter.stalled_s();
  conclude(saver_.start(state_, std::move(request)));
  if (!spec_.checkpoint_async) conclude(measured(saver_.finish()));
}

void Session::advance_save(const checkpoint::Saver::Standing& of_all) {
  if (!saver_.in_flight()) return;
  const trainer::Meter::Stall stall(attempt_.meter);
  conclude(measured(saver_.advance(of_all)));
}

void Session::finish_save() {
  const trainer::Meter::Stall stall(attempt_.meter);
  conclude(saver_.finish());
}

/// What became of the last checkpoint, the same on all ranks.
void Session::conclude(const std::optional<checkpoint::SaveResult>& result) {
  if (!result) return;
  if (result->committed) {
    stop_margin_.note_save(monotonic_seconds() - last_save_s_);
    warn_of_short_notice();
    saved_ = flying_;
    attempt_.meter.committed(saved_.step);
    failed_in_a_row_ = 0;
    reporter_->update_derived();
    return;
  }
  ++failed_in_a_row_;
  const auto text =
      fmt::format("the checkpoint at step {} could not be written and is dropped: {}", flying_.step, result->error);
  if (spec_.checkpoint_max_failed > 0 && failed_in_a_row_ >= spec_.checkpoint_max_failed)
    throw AgreedError(
        fmt::format("{}. That is the {}. in a row (checkpoint.max_failed): mend the storage, and start the "
                    "same command again: the run continues from {}",
                    text, failed_in_a_row_, newest_checkpoint()));
  log::run_warning(text + "; training goes on");
}

void Session::warn_of_short_notice() {
  const auto notice = attempt_.lease != nullptr ? attempt_.lease->notice() : std::nullopt;
  if (!notice || stop_margin_.longest_save() < *notice || std::exchange(notice_warned_, true)) return;
  log::warning(fmt::format(
      "a save takes {:.0f} s, and Slurm kills a preempted job {:.0f} s after its SIGTERM (KillWait and the partition's "
      "GraceTime): such a preemption costs what came after the last checkpoint",
      stop_margin_.longest_save(), *notice));
}

/// Learns from a save that was not waited for on purpose what one costs.
std::optional<checkpoint::SaveResult> Session::measured(std::optional<checkpoint::SaveResult> result) {
  const bool decides =
      communicator_.rank() == 0 && spec_.checkpoint_every.unit == trainer::CheckpointInterval::Unit::automatic;
  if (!result || !decides) return result;
  const double now = monotonic_seconds();
  const auto changed = auto_interval_.learn(attempt_.meter.stalled_s() - stalled_before_save_s_, now - last_save_s_,
                                            now - attempt_.meter.started_s());
  if (changed) log::info(*changed);
  return result;
}

/// Everything up to here is in a committed checkpoint when it returns true.
bool Session::save_and_wait() {
  const trainer::Meter::Stall stall(attempt_.meter);
  const InPhase saving(life_, Phase::checkpoint);
  finish_save();
  if (is_saved()) return true;
  start_save();
  finish_save();
  return is_saved();
}

void Session::set_metadata(std::string_view json) {
  checkpoint::check_metadata(json);
  metadata_ = json;
}

// --- steps and reports ------------------------------------------------------------------------------------------------

void Session::begin_reports(std::int64_t iteration) {
  trainer::agreed(communicator_, [&] { reporter_->begin(iteration); });
  reports_begun_ = true;
}

bool Session::checkpoint_time_is_up() const {
  using Unit = trainer::CheckpointInterval::Unit;
  if (communicator_.rank() != 0) return false;  // One clock decides; the vote tells the others.
  if (spec_.checkpoint_every.unit == Unit::seconds)
    return spec_.checkpoint_every.due_after(monotonic_seconds() - last_save_s_);
  if (spec_.checkpoint_every.unit != Unit::automatic || saver_.in_flight()) return false;
  return auto_interval_.is_due(monotonic_seconds() - std::max(last_save_s_, attempt_.meter.steps_begun_s()), reported_);
}

StopVote::Voice Session::voice() const {
  auto cause = batch::stop_signal();
  if (time_is_up()) cause = batch::time_is_up;
  if (!end_reason_.empty()) cause = batch::ended_early;
  return {.stop = cause, .checkpoint_wanted = checkpoint_time_is_up(), .saves = saver_.standing()};
}

bool Session::time_is_up() const {
  if (attempt_.lease == nullptr) return false;
  const auto left = attempt_.lease->remaining();
  const auto needed = stop_margin_.seconds();
  return left && needed && *left < *needed;
}

/// What a checkpoint of the stop takes as the place in the data, where the run stops between here and the next step.
void Session::note_place() {
  for (const auto& [name, impl] : datasets_)
    cursors_[name] = {impl->cursor.in_progress, impl->cursor.epoch, impl->cursor.position};
  const auto now = monotonic_seconds();
  if (last_point_s_ > 0) stop_margin_.note_gap(now - last_point_s_);
  last_point_s_ = now;
}

void Session::throw_if_stopped() const {
  if (stopped_by_ != batch::no_stop) throw StopRun{};
}

void Session::warn_if_unattached() {
  if (attached_ || std::exchange(warned_, true)) return;
  log::run_warning(
      "the train function did not call ctx.restore(state): there is nothing to save, and a stopped run begins again");
}

void Session::warn_of_missing_score() {
  const auto& attribute = spec_.retention.score_attribute;
  if (attribute.empty() || last_metrics_.contains(attribute) || std::exchange(score_warned_, true)) return;
  log::run_warning(fmt::format(
      "checkpoint.score_attribute is '{}', and the report has no number of that name: such checkpoints rank worst",
      attribute));
}

void Session::warn_of_missing_rules() {
  const auto missing = stop_rules_.missing(last_metrics_);
  if (missing.empty() || std::exchange(rule_warned_, true)) return;
  log::run_warning(fmt::format("[stop] names {}, and the report has no number of that name", join(missing)));
}

void Session::step() {
  throw_if_stopped();
  fault_point("step");
  warn_if_unattached();
  note_place();
  ++progress_.step;
  attempt_.meter.stepped(progress_.step);
  life_.progress(progress_.step, Phase::training);
  communicator_.at_step(progress_.step);
  const auto outcome = vote_.finish();
  advance_save(outcome.saves);
  obey(outcome, spec_.checkpoint_every.due_at_step(progress_.step));
  vote_.start(voice(), StopVote::Call::step);
}

void Session::stop_point() {
  throw_if_stopped();
  life_.progress(progress_.step);
  const auto outcome = vote_.finish();
  advance_save(outcome.saves);
  obey(outcome, false);
  vote_.start(voice(), StopVote::Call::stop_point);
}

void Session::stop_if_asked() {
  vote_.finish();
  obey(vote_.now(voice(), StopVote::Call::stop_point), false);
}

void Session::request_stop(std::string_view reason) {
  if (end_reason_.empty()) end_reason_ = reason.empty() ? "asked for by the train function" : std::string(reason);
}

void Session::report(const Metrics& metrics) {
  throw_if_stopped();
  fault_point("report");
  warn_if_unattached();
  life_.progress(progress_.step, Phase::training);
  if (!reports_begun_) begin_reports(0);
  const auto earlier = vote_.finish();
  auto outcome = vote_.now(voice(), StopVote::Call::report);
  outcome.stop = std::max(outcome.stop, earlier.stop);
  outcome.checkpoint_wanted = outcome.checkpoint_wanted || earlier.checkpoint_wanted;

  auto record = aggregate(metrics);
  progress_.iteration = record.iteration;
  reported_ = true;
  attempt_.meter.reported(progress_.iteration);
  last_metrics_.clear();
  for (const auto& [key, value] : record.values)
    if (const auto* number = std::get_if<double>(&value)) last_metrics_[key] = *number;
  warn_of_missing_score();
  warn_of_missing_rules();
  if (const auto reason = stop_rules_.check(progress_.iteration, last_metrics_)) {
    request_stop(*reason);
    outcome.stop = batch::ended_early;
  }
  note_place();
  trainer::agreed(communicator_, [&] { reporter_->write(std::move(record), time_so_far()); });
  fault_point("reported");
  advance_save(outcome.saves);
  obey(outcome, spec_.checkpoint_every.due_at_report(progress_.iteration));
}

metrics::TimeSoFar Session::time_so_far() const {
  const auto timing = attempt_.meter.read().timing;
  return {.startup_s = timing.startup_s,
          .checkpoint_s = timing.checkpoint_s,
          .total_s = timing.total_s(),
          .steps_s = timing.steps_s};
}

metrics::Record Session::aggregate(const Metrics& metrics) {
  auto encoded = metrics::encode(metrics);
  const auto hash = static_cast<std::int64_t>(encoded.schema_hash >> 1);
  std::array<std::int64_t, 2> range = {hash, -hash};  // maximum, and minus the minimum
  communicator_.all_reduce(range, Op::max);
  if (range[0] != -range[1])
    throw AgreedError("report(): " + metrics::first_difference(communicator_.all_gather(metrics::describe_keys(metrics))));
  communicator_.all_reduce(encoded.sums, Op::sum);
  communicator_.all_reduce(encoded.maxima, Op::max);
  return metrics::decode(metrics, encoded, progress_.iteration + 1);
}

void Session::obey(const StopVote::Outcome& outcome, bool checkpoint_due) {
  if (outcome.stop == batch::ended_early) agree_on_end();
  if (attached_ && (checkpoint_due || outcome.checkpoint_wanted)) start_save();
  if (outcome.stop != batch::no_stop) stop(outcome.stop);
}

void Session::stop(batch::StopCause cause) {
  if (const auto left = attempt_.lease != nullptr ? attempt_.lease->remaining() : std::nullopt;
      cause == batch::time_is_up && left)
    log::info(fmt::format("{:.0f} s of the job's time are left, and a stop may take {:.0f} s: stopping now", *left,
                          stop_margin_.seconds().value_or(0)));
  // The last chance to save: a fault that passes within seconds must not cost it.
  for (const int pause_s : {0, 1, 3}) {
    std::this_thread::sleep_for(std::chrono::seconds(pause_s));
    if (!attached_ || loses_nothing() || save_and_wait()) break;
  }
  stopped_by_ = cause;
  throw StopRun{};
}

/// Of the ranks that ask for the end, the first one's reason counts. It belongs into the checkpoint.
void Session::agree_on_end() {
  const auto reasons = communicator_.all_gather(end_reason_);
  end_reason_ = *std::ranges::find_if(reasons, [](const auto& reason) { return !reason.empty(); });
  if (stop_rules_.noted_end() == end_reason_) return;
  stop_rules_.note_end(end_reason_);
  saved_ = {.iteration = -1, .step = -1};  // a checkpoint of this step lacks it
}

std::string Session::stop_reason() const {
  return stopped_by_ == batch::ended_early ? end_reason_ : batch::describe(stopped_by_);
}

void Session::save_now() {
  throw_if_stopped();
  if (!attached_) throw UsageError("save() comes after restore(), which attaches the State to save");
  const auto outcome = vote_.finish();
  note_place();
  if (!save_and_wait())
    throw AgreedError(fmt::format(
        "save(): the checkpoint of step {} could not be written (why stands above). Make room, and start the same "
        "command again: the run continues from {}",
        progress_.step, newest_checkpoint()));
  obey(outcome, false);
}

std::string Session::newest_checkpoint() const {
  return saved_.step < 0 ? "its beginning, there is no checkpoint"
                         : fmt::format("its last checkpoint, of step {}", saved_.step);
}

void Session::finish() {
  fault_point("finish");
  life_.progress(progress_.step, Phase::finishing);
  throw_if_stopped();
  vote_.finish();
  finish_save();
  if (attached_ && !is_saved())
    log::run_warning(fmt::format(
        "the train function returned at step {} without saving: what came after {} is not kept. Let it call ctx.save() at "
        "its end",
        progress_.step, newest_checkpoint()));
}

void Session::close() {
  fault_point("close");
  attempt_.meter.training_ended();
  life_.progress(progress_.step, Phase::finishing);
  // A run that was stopped before it restored has reports that nobody has read yet: they stay as they are.
  if (!reports_begun_ && stopped_by_ == batch::no_stop) begin_reports(0);
  trainer::agreed(communicator_, [&] {
    saver_.drain();
    if (!reports_begun_) return;
    reporter_->sync();
    reporter_->end();
  });
}

}  // namespace trainrt
