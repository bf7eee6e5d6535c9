#include "trainer/session.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

Session::Session(const trainer::RunSpec& spec, const World& world, Communicator& communicator, AttemptInfo attempt)
    : spec_(spec),
      world_(world),
      communicator_(communicator),
      attempt_(std::move(attempt)),
      reporter_(trainer::make_reporter(spec, communicator.rank())),
      vote_(communicator),
      last_save_s_(monotonic_seconds()),
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
  auto impl = data::open_dataset(name, section->second, Shard{communicator_.rank(), communicator_.size()}, spec_.seed);
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
  for (auto& [name, cursor] : cursors_) {
    const auto folder = "trainrt/data/" + name + "/";
    state_.value(folder + "in_progress", cursor.in_progress).optional = true;
    state_.value(folder + "epoch", cursor.epoch).optional = true;
    state_.value(folder + "position", cursor.position).optional = true;
  }
}

bool Session::restore(State& state) {
  if (progress_.step > 0 || progress_.iteration > 0)
    throw UsageError("restore() comes before the first step() and report()");
  fault_point("load");
  attach(state);
  const bool restored = restore_own() || resume_from_other();
  if (!reports_begun_) begin_reports(0);
  if (spec_.checkpoint_every.unit != trainer::CheckpointInterval::Unit::off) saver_.prepare(state_);
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
  first_step_ = progress_.step;
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
  first_step_ = progress_.step;
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
  conclude(saver_.finish());  // one at a time, in order
  for (auto& [name, impl] : datasets_)
    cursors_[name] = {impl->cursor.in_progress, impl->cursor.epoch, impl->cursor.position};
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
  conclude(saver_.start(state_, std::move(request)));
  if (!spec_.checkpoint_async) conclude(saver_.finish());
}

/// What became of the last checkpoint, the same on all ranks.
void Session::conclude(const std::optional<checkpoint::SaveResult>& result) {
  if (!result) return;
  if (result->committed) {
    saved_ = flying_;
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

/// Everything up to here is in a committed checkpoint when it returns true.
bool Session::save_and_wait() {
  conclude(saver_.finish());
  if (is_saved()) return true;
  start_save();
  conclude(saver_.finish());
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
  // One clock decides; the vote tells the others.
  return communicator_.rank() == 0 && spec_.checkpoint_every.due_after(monotonic_seconds() - last_save_s_);
}

StopVote::Voice Session::voice() const {
  return {.signal = batch::stop_signal(), .checkpoint_wanted = checkpoint_time_is_up(), .saves = saver_.standing()};
}

void Session::throw_if_stopped() const {
  if (stopped_by_ != 0) throw StopRun{};
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

void Session::step() {
  throw_if_stopped();
  fault_point("step");
  warn_if_unattached();
  ++progress_.step;
  communicator_.at_step(progress_.step);
  const auto outcome = vote_.finish();
  conclude(saver_.advance(outcome.saves));
  obey(outcome, spec_.checkpoint_every.due_at_step(progress_.step));
  vote_.start(voice(), StopVote::Call::step);
}

void Session::report(const Metrics& metrics) {
  throw_if_stopped();
  fault_point("report");
  warn_if_unattached();
  if (!reports_begun_) begin_reports(0);
  const auto earlier = vote_.finish();
  auto outcome = vote_.now(voice(), StopVote::Call::report);
  outcome.signal = std::max(outcome.signal, earlier.signal);
  outcome.checkpoint_wanted = outcome.checkpoint_wanted || earlier.checkpoint_wanted;

  auto record = aggregate(metrics);
  progress_.iteration = record.iteration;
  last_metrics_.clear();
  for (const auto& [key, value] : record.values)
    if (const auto* number = std::get_if<double>(&value)) last_metrics_[key] = *number;
  warn_of_missing_score();
  trainer::agreed(communicator_, [&] { reporter_->write(std::move(record)); });
  fault_point("reported");
  conclude(saver_.advance(outcome.saves));
  obey(outcome, spec_.checkpoint_every.due_at_report(progress_.iteration));
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
  if (attached_ && (checkpoint_due || outcome.checkpoint_wanted)) start_save();
  if (outcome.signal != 0) stop(outcome.signal);
}

void Session::stop(int signal) {
  if (attached_) save_and_wait();
  stopped_by_ = signal;
  throw StopRun{};
}

void Session::save_now() {
  throw_if_stopped();
  if (!attached_) throw UsageError("save() comes after restore(), which attaches the State to save");
  const auto outcome = vote_.finish();
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
  throw_if_stopped();
  vote_.finish();
  conclude(saver_.finish());
  if (attached_ && !is_saved())
    log::run_warning(fmt::format(
        "the train function returned at step {} without saving: what came after {} is not kept. Let it call ctx.save() at "
        "its end",
        progress_.step, newest_checkpoint()));
}

void Session::close() {
  fault_point("close");
  if (!reports_begun_) begin_reports(0);
  trainer::agreed(communicator_, [&] {
    saver_.drain();
    reporter_->sync();
    reporter_->end();
  });
}

}  // namespace trainrt
