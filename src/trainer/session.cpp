#include "trainer/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "checkpoint/phases.hpp"
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

Session::Session(const trainer::RunSpec& spec, const World& world, Communicator& communicator, AttemptInfo attempt)
    : spec_(spec),
      world_(world),
      communicator_(communicator),
      attempt_(std::move(attempt)),
      reporter_(trainer::make_reporter(spec, communicator.rank())),
      vote_(communicator),
      last_save_s_(monotonic_seconds()) {
  progress_.ranks = communicator.size();
  progress_.seed = static_cast<std::int64_t>(spec.seed);
  next_checkpoint_ = communicator.all_reduced(checkpoint::highest_index(spec.run_dir), Op::max) + 1;
  for (const auto& [name, options] : spec_.data) cursors_[name];
}

Session::~Session() = default;

namespace {

void pass_phase(checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); }

}  // namespace

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
  std::optional<checkpoint::LoadResult> loaded;
  try {
    loaded = checkpoint::load_latest(state_, spec_.run_dir, communicator_);
  } catch (const Error& error) {  // load_latest fails on all ranks or on none
    throw AgreedError(error.what(), error.code());
  }
  if (!loaded) {
    begin_reports(0);
    return false;
  }
  for (const auto& reason : loaded->skipped)
    if (communicator_.rank() == 0) log::warning(reason);
  take_restored(loaded->directory, loaded->meta.ranks);
  return true;
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
  for (auto& [name, impl] : datasets_) {  // those that were opened before restore()
    const auto& stored = cursors_[name];
    impl->cursor = {stored.in_progress, stored.epoch, stored.position};
    impl->restored = true;
  }
  log::info(fmt::format("continuing from {} (step {}, iteration {})", directory, progress_.step, progress_.iteration));
  if (ranks != communicator_.size())
    log::info(fmt::format(
        "it was saved by {} ranks and is loaded by {}: the run goes on exactly in what it computes, but sums have another "
        "order now and bits may differ",
        ranks, communicator_.size()));
  begin_reports(progress_.iteration);
}

void Session::retain() const {
  try {
    checkpoint::retain(spec_.run_dir, attempt_.private_dir, spec_.retention, pass_phase);
  } catch (const Error& error) {
    log::warning(std::string("an old checkpoint stays: ") + error.what());
  }
}

bool Session::save() {
  for (auto& [name, impl] : datasets_)
    cursors_[name] = {impl->cursor.in_progress, impl->cursor.epoch, impl->cursor.position};
  trainer::agreed(communicator_, [&] { reporter_->sync(); });
  checkpoint::SaveOptions options{.run_dir = spec_.run_dir, .private_dir = attempt_.private_dir, .meta = {}};
  options.meta.index = next_checkpoint_;
  options.meta.iteration = progress_.iteration;
  options.meta.step = progress_.step;
  options.meta.attempt = attempt_.number;
  options.meta.metrics = last_metrics_;
  const auto result = checkpoint::save(state_, options, communicator_, pass_phase);
  ++next_checkpoint_;
  last_save_s_ = monotonic_seconds();
  if (!result.committed) {
    if (communicator_.rank() == 0)
      log::warning(fmt::format("the checkpoint at step {} could not be written and is dropped, training goes on: {}",
                               progress_.step, result.error));
    return false;
  }
  saved_ = progress_;
  reporter_->update_derived();
  if (communicator_.rank() == 0) retain();
  return true;
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

void Session::throw_if_stopped() const {
  if (stopped_by_ != 0) throw StopRun{};
}

void Session::warn_if_unattached() {
  if (attached_ || std::exchange(warned_, true) || communicator_.rank() != 0) return;
  log::warning(
      "the train function did not call ctx.restore(state): there is nothing to save, and a stopped run begins again");
}

void Session::warn_of_missing_score() {
  const auto& attribute = spec_.retention.score_attribute;
  if (attribute.empty() || last_metrics_.contains(attribute) || std::exchange(score_warned_, true) ||
      communicator_.rank() != 0)
    return;
  log::warning(fmt::format(
      "checkpoint.score_attribute is '{}', and the report has no number of that name: such checkpoints rank worst",
      attribute));
}

void Session::step() {
  throw_if_stopped();
  fault_point("step");
  warn_if_unattached();
  ++progress_.step;
  const auto outcome = vote_.finish();
  obey(outcome, spec_.checkpoint_every.due_at_step(progress_.step));
  vote_.start(batch::stop_signal(), checkpoint_time_is_up(), StopVote::Call::step);
}

void Session::report(const Metrics& metrics) {
  throw_if_stopped();
  fault_point("report");
  warn_if_unattached();
  if (!reports_begun_) begin_reports(0);
  const auto earlier = vote_.finish();
  auto outcome = vote_.now(batch::stop_signal(), checkpoint_time_is_up(), StopVote::Call::report);
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
  if (attached_ && (checkpoint_due || outcome.checkpoint_wanted)) save();
  if (outcome.signal != 0) stop(outcome.signal);
}

void Session::stop(int signal) {
  if (attached_ && !is_saved()) save();
  stopped_by_ = signal;
  throw StopRun{};
}

void Session::save_now() {
  throw_if_stopped();
  if (!attached_) throw UsageError("save() comes after restore(), which attaches the State to save");
  const auto outcome = vote_.finish();
  if (!is_saved() && !save())
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
  if (attached_ && !is_saved() && communicator_.rank() == 0)
    log::warning(fmt::format(
        "the train function returned at step {} without saving: what came after {} is not kept. Let it call ctx.save() at "
        "its end",
        progress_.step, newest_checkpoint()));
}

void Session::close() {
  fault_point("close");
  if (!reports_begun_) begin_reports(0);
  trainer::agreed(communicator_, [&] {
    reporter_->sync();
    reporter_->end();
  });
}

}  // namespace trainrt
