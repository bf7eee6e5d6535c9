// The part of the session that gives a run its State at the start: from its own newest checkpoint, from another run's, or
// anew.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/replicas.hpp"
#include "checkpoint/save/agree.hpp"
#include "checkpoint/save/combined_view.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/retention.hpp"
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "rundir/records/point_words.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/mirror_repair.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using comm::AgreedError;

namespace {

void pass_phase(checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); }

/// Loading fails on all ranks or on none.
template <class Load>
auto agreed_load(Load&& load) {
  try {
    return load();
  } catch (const Error& error) {
    throw AgreedError(trainer::with_advice(error), error.code());
  }
}

}  // namespace

namespace {

std::string preprocessors_in(const std::string& checkpoint) {
  const auto metadata = nlohmann::json::parse(checkpoint::read_manifest(checkpoint).meta.metadata, nullptr, false);
  return metadata.is_object() && metadata.contains("preprocessors") ? metadata["preprocessors"].dump() : "";
}

/// What the newest checkpoint of the run whose manifest can be read has of the datasets' preprocessors; "" if nothing.
std::string stored_preprocessors(const std::string& run_dir, const std::vector<std::int64_t>& listed) {
  for (auto number = listed.rbegin(); number != listed.rend(); ++number) try {
      return preprocessors_in(run_dir + "/" + checkpoint::directory_name(*number));
    } catch (const Error&) {
      continue;  // it is damaged, or gone: an older one has the same
    }
  return "";
}

}  // namespace

void Session::prepare_datasets(const std::string& checkpoint) {
  const watch::InPhase loading(life_, watch::Phase::loading);
  datasets_.verify_files();
  if (!datasets_.need_preparation()) return;
  std::string stored;
  RankZero(communicator_.rank()).run([&] {
    stored =
        checkpoint.empty() ? stored_preprocessors(spec_.run_dir, attempt_.earlier.listed) : preprocessors_in(checkpoint);
  });
  const auto fitted = datasets_.prepare(communicator_.broadcast_text(stored, 0));
  if (fitted.empty()) return;
  attempt_.metadata = checkpoint::merged_metadata(attempt_.metadata, "{\"preprocessors\":" + fitted + "}");
  metadata_ = attempt_.metadata;
}

void Session::attach(const State& user) {
  require_training("restore()");
  if (attached_) throw UsageError("restore() was called twice: it attaches the one State of the run");
  attached_ = true;
  state_.append(user);
  state_.value("trainrt/iteration", progress_.iteration);
  state_.value("trainrt/step", progress_.step);
  state_.value("trainrt/ranks", progress_.ranks);
  state_.value("trainrt/seed", progress_.seed);
  stops_.attach(state_);
  datasets_.attach(state_);
}

bool Session::restore(State& state) {
  if (has_progress()) throw UsageError("restore() comes before the first step() and report()");
  attach(state);
  attached_empty_ = state.empty();
  const bool restored = load();
  attempt_.meter.state_restored();
  return restored;
}

bool Session::load() {
  fault_point("load");
  attempt_.meter.note_api_call();
  const watch::InPhase loading(life_, watch::Phase::loading);
  const bool restored = restore_own() || resume_from_other();
  if (!restored) make_alike(nullptr);
  if (!reports_begun_) begin_reports(0);
  saves_.prepare(state_);
  replicas_.begin(state_, progress_.step);
  stops_.take_restored(state_);
  stop_if_asked();  // a load may be long
  return restored;
}

/// A run that saves by directories has no State, and its checkpoints may hold tensors that came with reports.
checkpoint::Covers Session::part() const {
  return saves_by_directory_ ? checkpoint::Covers::part : checkpoint::Covers::all;
}

void Session::load_from(const State& state, const std::string& checkpoint) {
  throw_if_stopped();
  attempt_.meter.note_api_call();
  const watch::InPhase loading(life_, watch::Phase::loading);
  agreed_load([&] { return checkpoint::load_from(state, checkpoint, {{}, checkpoint::Covers::part}, communicator_); });
  attempt_.meter.state_restored();
}

std::optional<checkpoint::LoadResult> Session::load_newest() {
  // What a damaged checkpoint has filled in part is not what the run began with.
  const auto fill =
      spec_.run.accepts_missing_checkpoints ? checkpoint::Fill::when_checked : checkpoint::Fill::while_reading;
  return checkpoint::load_latest(state_, spec_.run_dir, attempt_.earlier.listed, communicator_, part(), fill);
}

/// If all checkpoints are damaged, a mirror is asked, and then the user: nullopt if the run is to begin again.
std::optional<checkpoint::LoadResult> Session::load_own() try {
  return load_newest();
} catch (const checkpoint::AllDamaged& damaged) {
  if (repair_from_mirror()) return agreed_load([&] { return load_newest(); });
  if (!spec_.run.accepts_missing_checkpoints) throw AgreedError(trainer::with_advice(damaged), damaged.code());
  for (const auto& damage : damaged.damages()) log::run_warning(damage);
  log::run_warning("accepted (run.missing_checkpoints): all checkpoints are damaged, and the run begins at step 0");
  saves_.know_as_damaged(attempt_.earlier.listed);
  return std::nullopt;
} catch (const Error& error) {
  throw AgreedError(trainer::with_advice(error), error.code());
}

bool Session::repair_from_mirror() {
  if (spec_.checkpoint.mirror.empty()) return false;
  const auto brought = agreed_load([&] {
    return checkpoint::from_root(communicator_, [&] {
      const auto number = trainer::repair_from_mirror(spec_, attempt_.run_id, attempt_.private_dir);
      return number ? std::to_string(*number) : std::string();
    });
  });
  if (brought.empty()) return false;
  auto& listed = attempt_.earlier.listed;
  const auto number = static_cast<std::int64_t>(std::stoll(brought));
  if (const auto at = std::ranges::lower_bound(listed, number); at == listed.end() || *at != number)
    listed.insert(at, number);
  return true;
}

bool Session::restore_own() {
  const auto loaded = load_own();
  if (!loaded) return false;
  for (const auto& reason : loaded->skipped) log::run_warning(reason);
  RankZero(communicator_.rank()).run([&] { follow_up(*loaded); });
  make_alike(&*loaded);
  take_restored(loaded->directory, loaded->meta);
  saves_.know_as_damaged(loaded->damaged);
  return true;
}

/// Replicated tensors that no checkpoint has filled become rank 0's on all ranks: train functions may fill them at random.
void Session::make_alike(const checkpoint::LoadResult* loaded) {
  if (communicator_.size() == 1) return;
  agreed_load([&] { checkpoint::require_alike(state_, communicator_); });
  auto tensors = checkpoint::replicated_tensors(state_);
  if (loaded != nullptr)
    std::erase_if(tensors, [&](const TensorEntry* entry) { return !loaded->untouched.contains(entry->name); });
  checkpoint::broadcast_replicas(tensors, communicator_);
}

/// What a run that was killed after a commit had no time for: its view, and deletions.
void Session::follow_up(const checkpoint::LoadResult& loaded) const {
  try {
    checkpoint::restore_view(loaded.directory, checkpoint::view_aside(attempt_.private_dir));
    const auto& listed = attempt_.earlier.listed;
    std::set<std::int64_t> known(listed.begin(), std::ranges::upper_bound(listed, loaded.meta.number));
    checkpoint::retain(spec_.run_dir, attempt_.private_dir, trainer::retention_of(spec_), known, loaded.damaged,
                       pass_phase);
  } catch (const Error& error) {
    log::warning(std::string("what an earlier attempt left undone stays so: ") + trainer::with_advice(error));
  }
}

bool Session::resume_from_other() {
  if (spec_.run.resume_from.empty()) return false;
  const auto partial = agreed_load([&] {
    return checkpoint::load_from(state_, spec_.run.resume_from, {spec_.run.resume_tensors, part()}, communicator_);
  });
  for (const auto& reason : partial.loaded.skipped) log::run_warning(reason);
  make_alike(&partial.loaded);
  if (!spec_.run.continues_iterations) progress_.iteration = 0;  // of this run
  progress_.ranks = communicator_.size();
  progress_.seed = static_cast<std::int64_t>(spec_.run.seed);
  const auto& taken = partial.loaded;
  const trainer::CommittedCheckpoint from{taken.meta.number, taken.directory, taken.meta.has_directory, taken.meta.metadata,
                                          point()};
  saves_.began_from_other(from);
  take_files_of(from);
  attempt_.meter.restored(progress_.step, progress_.iteration, -1);
  datasets_.restore_positions();
  log::info(fmt::format("a new run, started from {} ({} entries taken, step {})", partial.loaded.directory,
                        partial.taken.size(), progress_.step));
  if (!partial.missing.empty())
    log::run_warning(
        fmt::format("asked for, but not in that checkpoint: they stay as they were, or become rank 0's if replicated: {}",
                    join(partial.missing)));
  if (!partial.unused.empty())
    log::info(fmt::format("in that checkpoint, but not in this State: {}", join(partial.unused)));
  begin_reports(progress_.iteration, 0, spec_.run.continues_iterations ? checkpoint::run_of(taken.directory) : "");
  return true;
}

void Session::take_restored(const std::string& directory, const checkpoint::Meta& meta) {
  if (progress_.seed != static_cast<std::int64_t>(spec_.run.seed))
    throw AgreedError(
        fmt::format(
            "run.seed is {}, but the run began with {}: a run keeps its seed (give it back, or start a run of another "
            "name)",
            spec_.run.seed, progress_.seed),
        ExitCode::usage);
  progress_.ranks = communicator_.size();
  last_metrics_ = meta.metrics;
  const trainer::CommittedCheckpoint from{meta.number, directory, meta.has_directory, meta.metadata, point()};
  saves_.began_from(from, point());
  take_files_of(from);
  attempt_.meter.restored(progress_.step, progress_.iteration, meta.number);
  datasets_.restore_positions();
  log::info(fmt::format("continuing from {} ({})", directory, rundir::point_in_words(progress_.step, progress_.iteration)));
  if (meta.ranks != communicator_.size())
    log::info(fmt::format("it was saved by {} and is loaded by {}: sums have another order now, and bits may differ",
                          counted(meta.ranks, "rank"), communicator_.size()));
  begin_reports(progress_.iteration, meta.iteration_s);
}

}  // namespace trainrt
