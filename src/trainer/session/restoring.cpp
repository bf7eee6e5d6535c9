#include "trainer/session/restoring.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/candidate_manifest.hpp"
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
#include "trainer/saving/checkpoint_cycle.hpp"
#include "trainer/saving/mirror_repair.hpp"
#include "trainer/session/stored_preprocessors.hpp"

namespace trainrt::trainer {

using comm::AgreedError;

namespace {

void pass_phase(checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); }

/// Returns the result of `load`. An Error of `load` is rethrown as AgreedError. `load` must throw on all ranks or on no
/// rank.
template <class Load>
auto agreed_load(Load&& load) {
  try {
    return load();
  } catch (const Error& error) {
    throw AgreedError(with_advice(error), error.code());
  }
}

void log_skipped(const checkpoint::LoadResult& loaded) {
  for (const auto& reason : loaded.skipped) log::run_warning(reason);
}

void log_resumed(const CommittedCheckpoint& from, const checkpoint::Meta& meta, int ranks) {
  const auto epoch = meta.metrics.find("epoch");
  const auto reported = epoch == meta.metrics.end() ? "" : fmt::format("; last reported epoch: {}", epoch->second);
  log::info(fmt::format("continuing from {} ({}{})", from.directory,
                        rundir::point_in_words(from.point.step, from.point.iteration), reported));
  const auto saved_ranks = meta.ranks;
  if (saved_ranks != ranks)
    log::info(
        fmt::format("the checkpoint was saved by {} and is loaded by {}: "
                    "sums are computed in another order, so the lowest bits of results may differ",
                    counted(saved_ranks, "rank"), ranks));
}

void log_started_from(const checkpoint::PartialResult& partial, std::int64_t step) {
  log::info(fmt::format("a new run, started from {} ({} entries loaded, step {})", partial.loaded.directory,
                        partial.taken.size(), step));
  if (!partial.missing.empty())
    log::run_warning(
        fmt::format("run.resume_tensors selects entries that the checkpoint lacks: {}. These entries keep their initial "
                    "values; replicated tensors get the values of rank 0",
                    join(partial.missing)));
  if (!partial.unused.empty())
    log::info(
        fmt::format("the checkpoint has entries that the State lacks; they are not loaded: {}", join(partial.unused)));
}

/// Returns the text of the newest valid manifest of the checkpoints `numbers`; "" if no manifest is valid.
std::string newest_manifest(const std::string& run_dir, const std::vector<std::int64_t>& numbers) {
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const auto read = checkpoint::read_candidate({run_dir + "/" + checkpoint::directory_name(*number), *number});
    if (!read.text.empty()) return read.text;
  }
  return {};
}

}  // namespace

Restoring::Restoring(Parts parts) : parts_(std::move(parts)) {}

Restored Restoring::restore(const State& state, checkpoint::Covers covers, const std::optional<Copy>& copy) {
  const Source source{state, covers};
  Restored restored;
  if (copy && restore_copy(*copy, restored)) return restored;
  if (!restore_own(source, restored) && !restore_other(source, restored)) make_replicas_alike(state, nullptr);
  return restored;
}

void Restoring::load(const State& state, const std::string& path) {
  agreed_load([&] { return checkpoint::load_from(state, path, {{}, checkpoint::Covers::part}, parts_.communicator); });
}

std::string Restoring::stored_preprocessors(const std::string& checkpoint) {
  std::string stored;
  RankZero(parts_.communicator.rank()).run([&] {
    stored =
        checkpoint.empty() ? newest_preprocessors(parts_.spec.run_dir, parts_.checkpoints) : preprocessors_in(checkpoint);
  });
  return parts_.communicator.broadcast_text(stored, 0);
}

/// Loads `copy` if the run has no newer checkpoint, and no checkpoint with files, which copies lack. Returns whether the
/// copy was loaded. Collective.
bool Restoring::restore_copy(const Copy& copy, Restored& restored) {
  const auto text = agreed_load([&] {
    return checkpoint::from_root(parts_.communicator,
                                 [&] { return newest_manifest(parts_.spec.run_dir, parts_.checkpoints); });
  });
  const RunPoint at{copy.note.iteration, copy.note.step};
  RunPoint saved;
  std::int64_t number = -1;
  std::optional<CommittedCheckpoint> checkpoint;
  if (!text.empty()) {
    checkpoint::LoadResult newest{.meta = checkpoint::manifest_from(text, "manifest.json").meta};
    const auto& meta = newest.meta;
    saved = {meta.iteration, meta.step};
    number = meta.number;
    if (meta.has_directory || meta.step > at.step || meta.iteration > at.iteration || saved == at) return false;
    newest.directory = parts_.spec.run_dir + "/" + checkpoint::directory_name(number);
    RankZero(parts_.communicator.rank()).run([&] { complete_last_commit(newest); });
    checkpoint = CommittedCheckpoint{
        .number = number, .directory = newest.directory, .has_files = false, .metadata = meta.metadata, .point = saved};
  }
  restored = {.checkpoint = std::move(checkpoint),
              .is_of_this_run = true,
              .is_from_copy = true,
              .metrics = copy.note.metrics,
              .bits = {},
              .iteration_s = copy.note.iteration_s,
              .reports_of = ""};
  copy.load();
  parts_.progress.resume(number, saved);
  parts_.datasets.restore_positions();
  log::info(
      fmt::format("continuing from the copy of the State in memory ({})", rundir::point_in_words(at.step, at.iteration)));
  return true;
}

bool Restoring::restore_own(const Source& source, Restored& restored) {
  const auto loaded = load_own(source, restored);
  if (!loaded) return false;
  log_skipped(*loaded);
  RankZero(parts_.communicator.rank()).run([&] { complete_last_commit(*loaded); });
  make_replicas_alike(source.state, &*loaded);
  parts_.progress.resume(loaded->meta.number);
  parts_.datasets.restore_positions();
  restored = {.checkpoint = checkpoint_of(*loaded),
              .is_of_this_run = true,
              .damaged = loaded->damaged,
              .metrics = loaded->meta.metrics,
              .bits = loaded->meta.ranks == parts_.communicator.size() ? loaded->meta.bits : "",
              .iteration_s = loaded->meta.iteration_s,
              .reports_of = ""};
  log_resumed(*restored.checkpoint, loaded->meta, parts_.communicator.size());
  return true;
}

bool Restoring::restore_other(const Source& source, Restored& restored) {
  const auto& run = parts_.spec.run;
  if (run.resume_from.empty()) return false;
  const auto partial = agreed_load([&] {
    return checkpoint::load_from(source.state, run.resume_from, {run.resume_tensors, source.covers}, parts_.communicator);
  });
  log_skipped(partial.loaded);
  make_replicas_alike(source.state, &partial.loaded);
  parts_.progress.start_from_other_run(run.continues_iterations);
  parts_.datasets.restore_positions();
  restored.checkpoint = checkpoint_of(partial.loaded);
  if (run.continues_iterations) restored.reports_of = checkpoint::run_of(partial.loaded.directory);
  log_started_from(partial, parts_.progress.step());
  return true;
}

CommittedCheckpoint Restoring::checkpoint_of(const checkpoint::LoadResult& loaded) const {
  return {.number = loaded.meta.number,
          .directory = loaded.directory,
          .has_files = loaded.meta.has_directory,
          .metadata = loaded.meta.metadata,
          .point = parts_.progress.point()};
}

std::optional<checkpoint::LoadResult> Restoring::load_newest(const Source& source) {
  // If all checkpoints are damaged, the run may begin at step 0. In that case, reading must not have changed the initial
  // values.
  const auto fill =
      parts_.spec.run.accepts_missing_checkpoints ? checkpoint::Fill::when_checked : checkpoint::Fill::while_reading;
  return checkpoint::load_latest(source.state, parts_.spec.run_dir, parts_.checkpoints, parts_.communicator, source.covers,
                                 fill);
}

/// Loads the newest intact checkpoint of the run, if necessary from the run's mirror. Returns nullopt if the run begins at
/// step 0. That is the case if the run has no checkpoint, or if all checkpoints are damaged and the config accepts that.
std::optional<checkpoint::LoadResult> Restoring::load_own(const Source& source, Restored& restored) try {
  return load_newest(source);
} catch (const checkpoint::AllDamaged& damaged) {
  if (take_newest_from_mirror()) return agreed_load([&] { return load_newest(source); });
  if (!parts_.spec.run.accepts_missing_checkpoints) throw AgreedError(with_advice(damaged), damaged.code());
  for (const auto& damage : damaged.damages()) log::run_warning(damage);
  log::run_warning("all checkpoints are damaged. Since run.missing_checkpoints = accept, the run begins again at step 0");
  restored.damaged = parts_.checkpoints;
  return std::nullopt;
} catch (const Error& error) {
  throw AgreedError(with_advice(error), error.code());
}

/// Copies the mirror's newest intact checkpoint into the run directory. Returns false if the mirror has no such checkpoint.
/// Collective.
bool Restoring::take_newest_from_mirror() {
  if (parts_.spec.checkpoint.mirror.empty()) return false;
  const auto text = agreed_load([&] {
    return checkpoint::from_root(parts_.communicator, [&] {
      const auto number = repair_from_mirror(parts_.spec, parts_.run_id, parts_.private_dir);
      return number ? std::to_string(*number) : std::string();
    });
  });
  if (text.empty()) return false;
  const auto number = static_cast<std::int64_t>(std::stoll(text));
  auto& numbers = parts_.checkpoints;
  if (const auto at = std::ranges::lower_bound(numbers, number); at == numbers.end() || *at != number)
    numbers.insert(at, number);
  return true;
}

/// Copies rank 0's values of the replicated tensors that were not loaded to all ranks, since train functions may initialize
/// tensors at random. `loaded` is the result of the load; nullptr if no checkpoint was loaded. Collective.
void Restoring::make_replicas_alike(const State& state, const checkpoint::LoadResult* loaded) {
  auto& communicator = parts_.communicator;
  if (communicator.size() == 1) return;
  agreed_load([&] { checkpoint::require_alike(state, communicator); });
  auto tensors = checkpoint::replicated_tensors(state);
  if (loaded != nullptr)
    std::erase_if(tensors, [&](const TensorEntry* entry) { return !loaded->untouched.contains(entry->name); });
  checkpoint::broadcast_replicas(tensors, communicator);
}

/// Writes the combined view of the checkpoint `loaded`, and deletes checkpoints that need not be kept. An earlier attempt
/// that was killed after its last commit could not do this work.
void Restoring::complete_last_commit(const checkpoint::LoadResult& loaded) const {
  try {
    checkpoint::restore_view(loaded.directory, checkpoint::view_aside(parts_.private_dir));
    const auto& numbers = parts_.checkpoints;
    std::set<std::int64_t> known(numbers.begin(), std::ranges::upper_bound(numbers, loaded.meta.number));
    checkpoint::retain(parts_.spec.run_dir, parts_.private_dir, retention_of(parts_.spec), known, loaded.damaged,
                       pass_phase);
  } catch (const Error& error) {
    log::warning(std::string("could not complete the last commit of an earlier attempt: ") + with_advice(error));
  }
}

}  // namespace trainrt::trainer
