// Runs of a program with its own main.
#include <trainrt/trainer.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "config/program_settings.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "rundir/storage/opened_run.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/shared_result.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/process_rank.hpp"
#include "trainer/start/rank_start.hpp"
#include "trainer/start/trainer_spec.hpp"
#include "watch/crash_report.hpp"

namespace trainrt {

namespace {

/// One that no name was given for has that of the process's first one, and a number.
void name_run(trainer::Prepared& prepared, trainer::ProcessRank& rank) {
  ++rank.runs;
  trainer::take_name_of_first(prepared, *rank.communicator);
  if (!prepared.spec || !prepared.spec->run.is_name_default) return;
  auto& spec = *prepared.spec;
  if (rank.made_up_name.empty()) rank.made_up_name = spec.run.name;
  config::rename(spec, config::numbered_name(rank.made_up_name, rank.runs));
}

void say_name(const config::RunSpec& spec, const std::string& made_up_name) {
  if (!spec.run.is_name_default) return;
  const bool same_again = Environment::of_process().has("SLURM_JOB_ID");
  log::info(fmt::format("RunConfig::name is not given: the run is in {}{}", spec.run_dir,
                        same_again ? ""
                                   : fmt::format("; with {}={} in its environment the same command continues it",
                                                 config::run_name_variable, shell_quoted(made_up_name))));
}

/// Lets who has started the ranks watch over this run. One who has started a program of one rank watches over that.
void record_opened_run(const config::RunSpec& spec, Communicator& communicator) {
  const auto tell = [&] {
    if (!Environment::of_process().has("TRAINRT_FD")) rundir::record_opened_run(spec.run_dir);
  };
  comm::collectively_on_first(communicator, tell, trainer::with_advice);
}

Result run_on(trainer::ProcessRank& rank, trainer::Prepared& prepared, const std::vector<config::SettingChange>& changes,
              const trainer::TrainCall& call) {
  name_run(prepared, rank);
  const auto check = [&] { trainer::check_spec(*prepared.spec); };
  trainer::agree_on_start(prepared, *rank.launch, rank.communicator, check);
  trainer::say_ranks(rank.launch->world(), *rank.communicator, "the train function of the program");
  for (const auto& change : changes) log::info(config::in_words(change));
  say_name(*prepared.spec, rank.made_up_name);
  record_opened_run(*prepared.spec, *rank.communicator);
  watch::install_crash_reports();
  const auto outcome = trainer::run(*prepared.spec, call, *rank.launch, *rank.communicator);
  log::info(outcome.message);
  return trainer::shared_result(prepared.spec->run_dir, outcome.code, *rank.communicator);
}

/// The public type of an error that all ranks have.
[[noreturn]] void throw_as_public(const Error& error) {
  if (error.code() == ExitCode::usage) throw UsageError(error.what());
  throw Error(error.what(), error.code());
}

}  // namespace

Result Trainer::fit() {
  const batch::StopSignals signals;
  std::vector<config::SettingChange> changes;
  auto prepared = trainer::prepared([&] { return trainer::spec_of(options_, Environment::of_process(), changes); });
  auto& rank = trainer::process_rank(prepared);
  trainer::TrainCall call;
  call.name = trainer::function_of_program;
  call.train = train_;
  call.prints_here = true;
  call.has_caller = true;
  call.callbacks = options_.run.callbacks;
  call.metadata = options_.metadata;
  try {
    return run_on(rank, prepared, changes, call);
  } catch (const comm::AgreedError& error) {
    throw_as_public(error);
  } catch (const std::exception&) {
    if (rank.launch->world().size > 1) static_cast<void>(trainer::end_step(*rank.launch));
    throw;
  }
}

int Trainer::run() try { return fit().exit_code(); } catch (const Error& error) {
  log::run_error(trainer::with_advice(error));
  return static_cast<int>(error.code());
}

}  // namespace trainrt
