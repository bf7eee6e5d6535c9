#include "trainer/start/global_batch.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::trainer {

namespace {

/// Returns whether an attempt with `config` kept the global batch after a change of the number of ranks.
bool kept_global_batch(const std::map<std::string, std::string>& config) {
  const auto text = [&](const char* key) {
    const auto found = config.find(key);
    return found == config.end() ? std::string() : found->second;
  };
  if (const auto on_resize = text("scaling.on_resize"); !on_resize.empty())
    return on_resize == "keep_global_batch" || on_resize == "same_bits";
  return parse_integer(text("scaling.min_workers")).value_or(0) > 0;
}

int workers_before(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& recorded) {
  if (spec.scaling.requires_fixed_workers()) return recorded ? workers_of_run(spec.run_dir, *recorded) : 0;
  const auto newest = checkpoint::newest(spec.run_dir);
  if (!newest) return 0;
  return recorded && recorded->workers > 0 && kept_global_batch(recorded->spec) ? recorded->workers : newest->ranks;
}

int workers_now(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& recorded, int before, int ranks) {
  if (spec.scaling.on_resize() != config::OnResize::keep_global_batch) return ranks;
  if (spec.scaling.min_workers > 0 && spec.scaling.num_workers > 0) return spec.scaling.num_workers;
  if (before > 0) return before;
  return recorded && recorded->workers > 0 ? recorded->workers : ranks;
}

/// Returns the number of samples per worker in a global batch; 0 if [loop] has no batch_size.
std::int64_t samples_per_worker(const config::RunSpec& spec) {
  const auto number = [&](const char* key) {
    const auto* value = spec.loop_value(key);
    return value != nullptr ? parse_integer(value->text).value_or(0) : 0;
  };
  const auto batch_size = number("batch_size"), accumulate = number("accumulate");
  return batch_size * std::max<std::int64_t>(accumulate, 1);
}

/// Returns several ways to start `workers` ranks on any number of CPUs, for a message.
std::string commands_for(int workers) {
  return fmt::format(
      "trainrt -n {} on one machine, trainrt supervise in a batch script, srun --overcommit -n {}, or "
      "ScalingConfig(num_workers={}) in a Python script that starts the ranks itself",
      workers, workers, workers);
}

[[noreturn]] void refuse_other_workers(const config::RunSpec& spec, const GlobalBatch& batch) {
  const int workers = batch.before;
  const auto contradiction = spec.scaling.num_workers > 0 && spec.scaling.num_workers != workers
                                 ? fmt::format("remove scaling.num_workers = {}, and ", spec.scaling.num_workers)
                                 : "";
  throw UsageError(fmt::format(
      "the run in {} has {}, but {} launched; with scaling.on_resize = same_bits, the number of ranks cannot change. To "
      "continue on any number of CPUs, {}start {}: {}",
      spec.run_dir, counted(workers, "worker"), counted(batch.now, "rank") + (batch.now == 1 ? " was" : " were"),
      contradiction, counted(workers, "rank"), commands_for(workers)));
}

}  // namespace

GlobalBatch global_batch(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& recorded, int ranks) {
  const int before = workers_before(spec, recorded);
  return {before, workers_now(spec, recorded, before, ranks)};
}

int workers_of_run(const std::string& run_dir, const rundir::RunRecord& record) {
  if (record.workers > 0) return record.workers;
  if (const auto newest = checkpoint::newest(run_dir)) return newest->ranks;
  const auto attempts = rundir::read_attempts(run_dir);
  return attempts.empty() ? 0 : attempts.front().ranks;
}

std::string in_words(const config::RunSpec& spec, int workers) {
  const auto each = samples_per_worker(spec);
  const auto share = fmt::format("for each of {} worker{}", workers, workers == 1 ? "" : "s");
  if (each > 0) return fmt::format("{} samples ({} {})", each * workers, each, share);
  return workers == 1 ? "one worker's batch" : fmt::format("{} workers' batches", workers);
}

void require_same_global_batch(const config::RunSpec& spec, const GlobalBatch& batch) {
  const auto on_resize = spec.scaling.on_resize();
  const bool may_change = on_resize == config::OnResize::keep_global_batch || on_resize == config::OnResize::keep_batch;
  if (may_change || !batch.changes()) return;
  if (spec.scaling.requires_fixed_workers()) refuse_other_workers(spec, batch);
  throw UsageError(fmt::format(
      "the global batch of the run in {} was {}; on {} it would be {}, which would change the training. To continue with "
      "the same bits, start {}, on any number of CPUs: {}. Or add --scaling.on_resize=keep_global_batch to divide the old "
      "global batch among the ranks, or --scaling.on_resize=keep_batch to keep the batch of each rank. These two options "
      "change the bits of the results",
      spec.run_dir, in_words(spec, batch.before), counted(batch.now, "rank"), in_words(spec, batch.now),
      counted(batch.before, "rank"), commands_for(batch.before)));
}

}  // namespace trainrt::trainer
