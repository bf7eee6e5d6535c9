#include "tune/record/sweep_mirror.hpp"

#include <cstdint>
#include <exception>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "metrics/result_log.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"
#include "trainer/saving/mirror_restore.hpp"
#include "trainer/saving/mirrored_checkpoint.hpp"
#include "tune/record/journal.hpp"
#include "tune/record/mirrored_journal.hpp"
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
/// `clone.clone_of`. If the mirror lacks this checkpoint or it is damaged, copies the donor's newest intact one. The folder
/// gets its name when its files are complete and verified.
void restore_start_of_clone(const Sweep& sweep, std::uint64_t number, const Trial& clone, const std::string& temporary) {
  const auto name = sweep.name_of(number, clone.generation);
  const auto donor = sweep.name_of(clone.donor, clone.donor_generation);
  const auto wanted = checkpoint::number_of(fs::path(clone.clone_of).filename().string());
  const auto folder = fmt::format("{}/clones/{}", sweep.directory(), name);
  if (checkpoint::highest_number(folder) >= 0) return;
  const auto mirror =
      trainer::mirror_of(spec_of(sweep, clone.donor, sweep.params_of(clone.donor), {clone.donor_generation, ""}));
  const auto brought = temporary + "/" + name;
  io::make_directories(brought);
  mirror.bring_file(metrics::result_log_name, brought);
  const auto fetched = trainer::fetch_newest(mirror, brought, brought, wanted).meta;
  if (!fetched)
    throw UsageError(
        fmt::format("{} was a clone of {}, and {} has no intact checkpoint with its reports. Start a new sweep with "
                    "--run.name=NAME",
                    name, donor, mirror.url()));
  io::make_directories(sweep.directory() + "/clones");
  if (!io::rename_to_new(brought, folder) && checkpoint::highest_number(folder) < 0) io::exchange(brought, folder);
  if (fetched->number != wanted)
    log::warning(fmt::format("{} starts from {} of {}, since {} has no intact {}", name,
                             checkpoint::directory_name(fetched->number), donor, mirror.url(),
                             fs::path(clone.clone_of).filename().string()));
}

/// Throws UsageError if the mirror has a later generation of the trial than the journal: the trial has become a clone
/// once more. Without this check, the trial would continue the run of that generation, although the journal may contain
/// other values for it.
void refuse_later_generation(const Sweep& sweep, std::uint64_t number, const Trial& trial) {
  const auto later =
      trainer::mirror_of(spec_of(sweep, number, sweep.params_of(number), {trial.generation + 1, trial.clone_of}));
  if (!later.text_of("run.json").empty())
    throw UsageError(
        fmt::format("{} has a run that the mirrored journal of the sweep lacks. Remove that run to continue the trial from "
                    "generation {}, or start a new sweep with --run.name=NAME",
                    later.url(), trial.generation));
}

/// Copies the journal from the mirror, checks its records, and moves the files that do not exist in the sweep's directory
/// there. Returns false if the mirror has no journal.
bool restore_journal(const Sweep& sweep, const std::string& temporary) {
  const auto mirror = trainer::mirror_of(config::make_run_spec(sweep.trial_config()));
  const auto files = mirror.files_in(journal_folder);
  if (files.empty()) return false;
  io::make_directories(temporary + "/" + journal_folder);
  for (const auto& name : files)
    if (fs::path(name).filename() == name) mirror.bring_file(journal_folder + "/" + name, temporary);
  check_mirrored_journal(sweep, temporary + "/" + journal_folder);
  io::make_directories(sweep.journal());
  for (const auto& name : files)
    if (fs::path(name).filename() == name)
      io::rename_to_new(fmt::format("{}/{}/{}", temporary, journal_folder, name), sweep.journal() + "/" + name);
  return true;
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
  io::remove_abandoned(sweep.directory(), journal_folder);
  const auto temporary = io::temporary_beside(sweep.journal());
  io::remove_tree(temporary);
  if (!restore_journal(sweep, temporary)) return false;
  const auto history = history_of(sweep);
  for (const auto& [number, trial] : history.trials()) {
    const bool is_done = trial.is_done(sweep.max_failures());
    if (!is_done) refuse_later_generation(sweep, number, trial);
    const auto params = trial.params.empty() ? sweep.params_of(number) : trial.params;
    const auto spec = spec_of(sweep, number, params, {trial.generation, trial.clone_of});
    restore_run(spec);
    if (trial.generation > 1 && !is_done && !io::exists(spec.run_dir + "/run.json"))
      restore_start_of_clone(sweep, number, trial, temporary);
  }
  io::remove_tree(temporary);
  return true;
}

void put_journal_into_mirror(const Sweep& sweep, int number) try {
  if (!sweep.makes_clones()) return;
  const auto spec = config::make_run_spec(sweep.trial_config());
  if (spec.checkpoint.mirror.empty()) return;
  trainer::use_stores(spec);
  trainer::mirror_of(spec).put_file(sweep.directory(),
                                    fs::relative(journal_file(sweep.journal(), number), sweep.directory()).string());
} catch (const std::exception& error) {
  log::warning(fmt::format("cannot copy the journal file '{}' of the sweep to the mirror: {}",
                           journal_file(sweep.journal(), number), error.what()));
}

void put_tuner_record_into_mirror(const config::RunSpec& spec) try {
  constexpr const char* name = "tuner.json";
  if (io::exists(spec.run_dir + "/" + name)) put_config_into_mirror(spec, name);
} catch (const std::exception& error) {
  log::warning(
      fmt::format("cannot copy '{}/tuner.json', the record of the Tuner, to the mirror: {}", spec.run_dir, error.what()));
}

}  // namespace trainrt::tune
