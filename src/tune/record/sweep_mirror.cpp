#include "tune/record/sweep_mirror.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"
#include "trainer/saving/mirror_restore.hpp"
#include "tune/record/journal.hpp"
#include "tune/record/sweep.hpp"
#include "tune/record/sweep_history.hpp"

namespace trainrt::tune {

namespace {

namespace fs = std::filesystem;

const std::string journal_folder = "journal";

/// Calls restore_run_from_mirror(). An error is ignored if another process has restored the run in the meantime.
void restore_run(const config::RunSpec& spec) {
  try {
    trainer::restore_run_from_mirror(spec);
  } catch (const Error&) {
    if (!io::exists(spec.run_dir + "/run.json")) throw;
  }
}

config::RunSpec spec_of(const Sweep& sweep, std::uint64_t number, const Params& params, const CloneStart& start) {
  auto config = sweep.common_config();
  const auto own = sweep.own_config_of(number, params, start);
  for (const auto& key : own.keys()) config.set(key, *own.find(key));
  return config::make_run_spec(config);
}

/// Copies the checkpoint from which a clone starts, and the reports up to it, from the donor's mirror to the folder in
/// `clone.clone_of`. If the mirror lacks this checkpoint, copies the donor's newest one.
void restore_start_of_clone(const Sweep& sweep, std::uint64_t number, const Trial& clone) {
  const auto name = sweep.name_of(number, clone.generation);
  const auto donor = sweep.name_of(clone.donor, clone.donor_generation);
  const auto wanted = checkpoint::number_of(fs::path(clone.clone_of).filename().string());
  const auto folder = fmt::format("{}/clones/{}", sweep.directory(), name);
  if (checkpoint::highest_number(folder) >= 0) return;
  const auto mirror =
      trainer::mirror_of(spec_of(sweep, clone.donor, sweep.params_of(clone.donor), {clone.donor_generation, ""}));
  const auto complete = mirror.numbers().complete;
  if (complete.empty() || !wanted)
    throw UsageError(fmt::format("{} was a clone of {}, and {} has no checkpoint. Start a new sweep with --run.name=NAME",
                                 name, donor, mirror.url()));
  const auto chosen = std::ranges::find(complete, *wanted) != complete.end() ? *wanted : complete.back();
  io::make_directories(folder);
  mirror.bring_file(metrics::result_log_name, folder);
  mirror.bring(chosen, folder);
  if (chosen != *wanted)
    log::warning(fmt::format("{} starts from {} of {}, since {} does not have {}", name, checkpoint::directory_name(chosen),
                             donor, mirror.url(), checkpoint::directory_name(*wanted)));
}

}  // namespace

std::string config_in_mirror(const config::RunSpec& spec, const std::string& name) {
  if (spec.checkpoint.mirror.empty()) return "";
  trainer::use_stores(spec);
  return trainer::mirror_of(spec).text_of(name);
}

void put_config_into_mirror(const config::RunSpec& spec, const std::string& name) {
  if (spec.checkpoint.mirror.empty()) return;
  trainer::use_stores(spec);
  auto mirror = trainer::mirror_of(spec);
  if (mirror.text_of(name) != io::read_file(spec.run_dir + "/" + name)) mirror.put_file(spec.run_dir, name);
}

void restore_trials_from_mirror(const Sweep& sweep) {
  for (std::uint64_t trial = 0; trial < sweep.trials(); ++trial) {
    restore_run(config::make_run_spec(sweep.config_of(trial, sweep.params_of(trial))));
  }
}

bool restore_clones_from_mirror(const Sweep& sweep) {
  const auto mirror = trainer::mirror_of(config::make_run_spec(sweep.trial_config()));
  const auto files = mirror.files_in(journal_folder);
  if (files.empty()) return false;
  io::make_directories(sweep.journal());
  for (const auto& name : files)
    if (fs::path(name).filename() == name) mirror.bring_file(journal_folder + "/" + name, sweep.directory());
  const auto history = history_of(sweep);
  for (const auto& [number, trial] : history.trials()) {
    const auto params = trial.params.empty() ? sweep.params_of(number) : trial.params;
    const auto spec = spec_of(sweep, number, params, {trial.generation, trial.clone_of});
    restore_run(spec);
    if (trial.generation > 1 && !trial.has_succeeded() && !io::exists(spec.run_dir + "/run.json"))
      restore_start_of_clone(sweep, number, trial);
  }
  return true;
}

void put_journal_into_mirror(const Sweep& sweep, int number) try {
  const auto spec = config::make_run_spec(sweep.trial_config());
  if (spec.checkpoint.mirror.empty() || !sweep.makes_clones()) return;
  trainer::use_stores(spec);
  trainer::mirror_of(spec).put_file(sweep.directory(),
                                    fs::relative(journal_file(sweep.journal(), number), sweep.directory()).string());
} catch (const std::exception& error) {
  log::warning(fmt::format("journal file {} of the sweep was not copied to the mirror: {}", number, error.what()));
}

void put_tuner_record_into_mirror(const config::RunSpec& spec) try {
  constexpr const char* name = "tuner.json";
  if (io::exists(spec.run_dir + "/" + name)) put_config_into_mirror(spec, name);
} catch (const std::exception& error) {
  log::warning(fmt::format("the record of the Tuner was not copied to the mirror: {}", error.what()));
}

}  // namespace trainrt::tune
