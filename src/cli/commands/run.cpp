// srun trainrt --config train.ini: starts or resumes the run that the config names.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line/command.hpp"
#include "cli/command_line/intended_call.hpp"
#include "cli/command_line/rank_count_option.hpp"
#include "cli/start/builtin_functions.hpp"
#include "cli/start/exec_program.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/start/requested_runs.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "cli/start/script_input.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/supervise/local_run.hpp"
#include "config/score_order.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "launch/expected_size.hpp"
#include "launch/shell_step.hpp"
#include "launch/standby.hpp"
#include "program/children/other_launcher.hpp"
#include "rundir/storage/opened_run.hpp"
#include "trainer/records/own_run.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/module_loader.hpp"
#include "trainer/start/rank_command.hpp"
#include "trainer/start/rank_resources.hpp"
#include "trainer/start/rank_start.hpp"
#include "tune/trials/trial_callback.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view run_usage = "[-n N] [--config FILE] [--section.key=value ...] [-- PROGRAM ARGS]";

constexpr Example run_examples[] = {{"srun trainrt --config train.ini", "in a Slurm job: one rank per task"},
                                    {"srun trainrt --run.name=first -- python3 train.py", "a program, without a config"},
                                    {"trainrt -n 2 --config train.ini --loop.lr=0.1", "2 ranks on this machine"}};

constexpr CommandOption run_options[] = {rank_count_option, config_option,      override_option,
                                         program_option,    trust_owner_option, verbose_option};

constexpr ExitNote run_exit_codes[] = {
    {0, "finished"},
    {64, "invalid arguments, config, data or run directory; starting again changes nothing"},
    {70, "the train function, program or runtime failed, or a stopped run could not be saved"},
    {75, "stopped and saved; run the same command again to continue"},
    {76, "the last attempts of this Slurm job made no progress; do not requeue it, see trainrt result"}};

/// Returns the value of the environment variable tune::trial_variable if this run is a trial of a sweep. Removes the
/// variable, because programs would inherit it.
std::optional<std::string> take_trial() {
  auto trial = Environment::of_process().text(tune::trial_variable);
  unsetenv(tune::trial_variable);
  return trial;
}

/// Logs `warning` on rank 0, unless the text is empty.
void warn(const std::string& warning, const World& world) {
  if (!warning.empty()) RankZero(world.rank).run([&] { log::warning(warning); });
}

class TrainingCommand final : public trainer::RankCommand {
 public:
  TrainingCommand(std::span<const std::string> words, const Environment& environment)
      : words_(words), environment_(environment) {}

  config::RunSpec load_config() override {
    auto spec = load_run_spec(words_, std::string(run_usage));
    if (launch::is_shell_step(environment_)) warn_of_unused_tasks(1, words_);
    hold_script_from_input(spec);
    if (spec.program.has_trainer) exec_program(spec, launch::claimed_rank(environment_));
    return spec;
  }

  void prepare(config::RunSpec& spec, const World& world) override {
    trainer::require_workers(spec, world.size);
    const auto start = world.size == 1 ? "trainrt -n 2" : "trainrt";
    warn(program::check_launcher(spec.train.command, world.size, world.node_count, start), world);
    warn(config::score_order_warning(spec), world);
    warn(key_given_to_program(spec.train.command), world);
    training_ = prepare_train_function(spec);
    if (const auto trial = take_trial()) training_.call.callbacks.push_back(tune::trial_callback(*trial));
  }

  std::string description(const config::RunSpec& spec) const override { return train_function_text(spec, training_.call); }

  ExitCode execute(const config::RunSpec& spec, launch::Launch& launch, Communicator& communicator) override {
    trainer::fix_threads(spec, rundir::opened_run(spec.run_dir), launch.world(), communicator);
    const auto training = std::move(training_);  // ends the programs before the ranks separate, also after an error
    const auto require = [&](const config::RunSpec& requested) {
      trainer::require_workers(requested, launch.world().size);
      trainer::check_spec(requested);
    };
    const auto outcome = training.host ? run_requested(spec, training, launch, communicator, require)
                                       : trainer::run(spec, training.call, launch, communicator);
    log::info(outcome.message);
    return outcome.code;
  }

 private:
  std::span<const std::string> words_;
  const Environment& environment_;
  ResolvedFunction training_;
};

ExitCode start_local_ranks(int ranks, const std::vector<std::string>& words, const Environment& environment) {
  if (launch::is_rank_of_several(environment))
    throw UsageError("-n cannot be used in one of several ranks that srun or mpiexec started: remove -n");
  const auto spec = load_run_spec(words, std::string(run_usage));
  if (spec.scaling.num_workers > 0 || spec.scaling.min_workers > 0) trainer::require_workers(spec, ranks);
  program::check_launcher(spec.train.command, ranks, 1, fmt::format("trainrt -n {}", ranks));
  trainer::require_own_run(spec);
  hold_script_from_input(spec);
  warn_of_unused_tasks(ranks, words);
  leave_shell_step();
  return run_on_this_node(spec, ranks, words);
}

/// Loads the libraries of the train function, so that the ranks of a standby need less time when they begin. Ignores
/// errors, which the rank reports when it loads the train function.
void load_in_advance(const std::vector<std::string>& words) try {
  const auto spec = load_run_spec(words, std::string(run_usage));
  if (spec.train.program.empty()) trainer::load_function(builtin_functions(), spec.train.function, spec.train.library);
} catch (const std::exception&) {
}

ExitCode run_command(std::span<const std::string> given) {
  refuse_operands("", given, run_options);
  std::vector<std::string> words(given.begin(), given.end());
  if (!launch::wait_if_standby([&] { load_in_advance(words); })) return ExitCode::finished;
  const auto environment = Environment::of_process();
  if (const auto ranks = take_rank_count_option(words, run_usage)) return start_local_ranks(*ranks, words, environment);
  TrainingCommand command(words, environment);
  return trainer::execute_on_ranks(command, environment);
}

}  // namespace

extern const Command run;
const Command run{
    .name = "run",
    .group = CommandGroup::run,
    .order = 1,
    .usage = run_usage,
    .help = "start or resume the run of a config or a program (`run` may be omitted)",
    .examples = run_examples,
    .options = run_options,
    .notes =
        "The smallest config:\n\n    [run]\n    name         = first\n    storage_path = runs\n    [train]\n    function   "
        "  = linear\n    [data.train]\n    format       = synthetic\n\nUnder srun or mpiexec, this process is one of the "
        "run's ranks. Otherwise the run has one rank, or N ranks with -n.\nA program needs no config. By default, run.name "
        "is derived from the program and the Slurm job, so that a requeued job resumes the run; run.storage_path is "
        "$TRAINRT_STORAGE, or else the folder runs in the directory of submission.\nSIGUSR1, SIGUSR2, SIGTERM, SIGINT or "
        "SIGHUP on any rank stops all ranks at the same step and saves a checkpoint. So does the approaching time limit of "
        "the Slurm job.\nAfter a failure of one rank's program, or of a rank that -n started, all ranks are restarted, at "
        "most failure.max_failures times.\nStandard input, unless it is a terminal, is passed to the program of rank 0. A "
        "script that the interpreter reads from standard input (python3 - < train.py) is passed to the programs of all "
        "ranks.\nA run of another user is resumed only with --trust-owner=USER, or if trust_group in section [trust] of "
        "~/.config/trainrt/trainrt.ini or /etc/trainrt/trainrt.ini names a group of that user.\nRanks on several nodes, "
        "and ranks of mpiexec or srun --mpi=pmi2, need an MPI library with MPICH's ABI; TRAINRT_MPI_LIBRARY names it, by "
        "default libmpi.so.12 or libmpich.so.12.\nOpen ports: MPI between nodes; on rank 0, the services for a program "
        "that uses MPI, Horovod or XGBoost (program.env), on 127.0.0.1 if all ranks are on one node; and the ports that "
        "the program itself opens.\n",
    .exit_codes = run_exit_codes,
    .run = run_command,
    .output_is_result = false,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
