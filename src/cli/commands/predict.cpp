// A trained model over a dataset, on any number of ranks.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <poll.h>

#include "batch/signal_queue.hpp"
#include "batch/signals.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/other_files.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/rank_count_option.hpp"
#include "cli/data/convert/source_files.hpp"
#include "cli/data/opened_data.hpp"
#include "cli/predict/prediction_output.hpp"
#include "cli/predict/prediction_plan.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/terminal/print.hpp"
#include "comm/agreement.hpp"
#include "comm/backend.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "io/files/file.hpp"
#include "launch/expected_size.hpp"
#include "launch/rank_group.hpp"
#include "rundir/attempts/completion.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/predictions/prediction.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_start.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view predict_usage =
    "predict CHECKPOINT|RUN_DIR -o FILE.h5|FILE.csv|FILE.npz [-n N] [--best] [--data.NAME.key=value ...] [--dataset NAME] "
    "[--keep FIELD[=NAME],...] [--loop.key=value ...] [--spreadsheet] [--force] [--quiet]";

Arguments arguments_of(std::span<const std::string> words) {
  std::vector<std::string> long_words(words.begin(), words.end());
  std::replace(long_words.begin(), long_words.end(), std::string("-o"), std::string("--output"));
  auto arguments = parse_arguments(long_words, {.with_value = {"output", "keep", "dataset"},
                                                .switches = {"best", "spreadsheet", "force", "quiet"},
                                                .min_operands = 1,
                                                .max_operands = 1,
                                                .overrides = true,
                                                .usage = std::string(predict_usage)});
  if (!arguments.has("output")) throw UsageError(fmt::format("which file? usage: trainrt {}", predict_usage));
  return arguments;
}

/// One rank reads what the files of a checkpoint hold: a train function that reads them by itself need not check them.
void require_whole_files(const std::string& directory, const checkpoint::Manifest& manifest) {
  for (const auto& file : manifest.files)
    if (const auto damage = checkpoint::file_damage(directory, file); !damage.empty())
      throw Error(fmt::format("{}; predict with another checkpoint", damage));
}

/// What the ranks have in common.
struct Prediction {
  const Arguments& arguments;
  PredictionPlan plan;
  trainer::PredictionJob job;
  std::optional<PredictionOutput> output;  ///< rank 0's
  std::int64_t iteration = 0;              ///< that the checkpoint holds

  void prepare(int rank) {
    job.predict = take_function().predict;
    const auto manifest = checkpoint::read_manifest(plan.checkpoint);
    iteration = manifest.meta.iteration;
    job.checkpoint = {manifest.meta.number, plan.checkpoint, manifest.meta.has_directory};
    job.dataset = plan.dataset;
    job.kept = plan.kept;
    trainer::check_spec(plan.spec);
    RankZero(rank).run([&] {
      refuse_own_sources();
      say_if_not_finished();
      output.emplace(arguments.options.at("output"), arguments.has("force"), arguments.has("quiet"),
                     PredictedTable{{}, 0, plan.checkpoint, job.function, plan.dataset, arguments.has("spreadsheet")});
      require_whole_files(plan.checkpoint, manifest);
    });
    job.make_rows = [&](const auto& fields, std::uint64_t samples) { return output->begin(fields, samples); };
    job.complete = [&] { output->complete(); };
    job.progress = [&](std::uint64_t done, std::uint64_t samples) { output->show(done, samples); };
  }

 private:
  /// A copy of a run may hold an older model than the one that the run finished with.
  void say_if_not_finished() const {
    const auto run_dir = checkpoint::run_of(plan.checkpoint);
    const auto record = rundir::read_run_record(run_dir);
    const auto missing = record ? rundir::missing_end(run_dir, *record) : "";
    if (!missing.empty())
      log::warning(fmt::format("{}. The prediction is by the model of iteration {}", missing, iteration));
  }

  /// A dataset that its own predictions would replace is lost. Only what is there already can be one of its files.
  void refuse_own_sources() const {
    const auto& path = arguments.options.at("output");
    if (!arguments.has("force") || !io::exists(path)) return;
    trainer::use_stores(plan.spec);
    datasets::LocalDatasets all(plan.spec.data, plan.spec.run.seed);
    all.listing(plan.dataset);
    for (const auto& [name, listing] : all.listings())
      datasets::refuse_source(path, name, listing, plan.spec.data.at(name));
  }

  TrainFunction take_function() {
    const auto function = predicting_function(plan.spec);
    job.function = function.name;
    return function;
  }
};

ExitCode predict_on(launch::Launch& launch, trainer::Prepared& prepared, Prediction& prediction) {
  auto communicator = comm::open_communicator(launch, trainer::comm_options_of(prepared));
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  const auto& world = launch.world();
  try {
    // A run that goes on may have a newer one by now.
    prediction.plan.checkpoint = communicator->broadcast_text(prediction.plan.checkpoint, 0);
    trainer::agree_on_start(prepared, launch, communicator, [&] { prediction.prepare(world.rank); });
    trainer::say_ranks(world, *communicator,
                       fmt::format("{} predicts [data.{}] by {} (iteration {})", prediction.job.function,
                                   prediction.plan.dataset, prediction.plan.checkpoint, prediction.iteration));
    watch::install_crash_reports();
    trainer::predict(prediction.plan.spec, prediction.job, launch, *communicator);
    RankZero(world.rank).run([&] { print_safely("{}\n", prediction.output->summary()); });
    communicator->barrier();
    return ExitCode::finished;
  } catch (const comm::AgreedError& error) {
    prediction.output.reset();
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

ExitCode predict_as_rank(const Arguments& arguments) {
  batch::install_stop_signals();
  const auto environment = Environment::of_process();
  Prediction prediction{arguments, {}, {}, {}};
  auto prepared = trainer::prepared([&] {
    prediction.plan = plan_prediction(arguments);
    return prediction.plan.spec;
  });
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = trainer::find_ranks(environment, trainer::launch_options_of(prepared));
  } catch (const Error& error) {
    // No rank can talk to another: the one that calls itself the first speaks.
    if (launch::claimed_rank(environment) == 0) log::error(trainer::with_output_advice(error));
    return error.code();
  }
  try {
    const auto code = predict_on(*launch, prepared, prediction);
    launch->finalize();
    return code;
  } catch (const std::exception&) {
    prediction.output.reset();  // what lies beside its place goes: end_step() need not return
    return trainer::end_step(*launch);
  }
}

/// Ranks of this node. They are not started again: a prediction has nothing to go on from.
ExitCode predict_on_this_node(int ranks, const std::vector<std::string>& words) {
  if (launch::is_rank_of_several(Environment::of_process()))
    throw UsageError("-n starts ranks on this node by itself, and this is a rank of a step already: leave -n out");
  leave_shell_step();
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(), "predict"};
  command.insert(command.end(), words.begin(), words.end());
  const auto spec = plan_prediction(arguments_of(words)).spec;
  batch::SignalQueue signals;
  launch::RankGroup group(command, ranks, {spec.failure.launch_timeout_s, spec.failure.collective_timeout_s});
  while (!group.ended()) {
    pollfd waiting{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, 100);
    for (int signal = signals.take(); signal != 0; signal = signals.take())
      if (signal != SIGCHLD) group.signal(signal);
  }
  return static_cast<ExitCode>(group.end().exit_code);
}

ExitCode predict_command(std::span<const std::string> given) {
  std::vector<std::string> words(given.begin(), given.end());
  if (const auto ranks = take_rank_count_option(words, predict_usage)) return predict_on_this_node(*ranks, words);
  return predict_as_rank(arguments_of(words));
}

}  // namespace

extern const Command predict;
const Command predict{
    .name = "predict",
    .usage = predict_usage,
    .help = "a trained model over a dataset: what it predicts for each sample, in one file",
    .details =
        "CHECKPOINT is a checkpoint directory, or a run directory: its newest, or with --best the best by\n"
        "checkpoint.score_attribute. The train function and its [loop] are those of the run (run.json); --train.function,\n"
        "--train.library and --loop.key=value change them. Libraries and TorchScript files that run.json names are not "
        "loaded,\nunless a module folder has them: give them again. `trainrt list` shows the formats; the file's ending "
        "chooses.\n"
        "The dataset is [data.NAME] of the run, with what --data.NAME.key=value changes; NAME is the one that such keys "
        "have,\n"
        "or --dataset, otherwise test. It need not have the fields that only training needs. It is neither shuffled nor\n"
        "mixed: the samples come in their order. --keep copies fields of it into the file, --keep id,labels=truth one of "
        "them\n"
        "under another name. Texts go into .csv and .h5 (UTF-8 strings as long as the longest, filled up with NULs); for\n"
        "their lengths the dataset is read once more. --spreadsheet puts an apostrophe before texts of a .csv file that a\n"
        "spreadsheet would take for a formula.\n"
        "Under srun or mpiexec it is one rank of many, with -n it starts N on this machine; by hand it is one. The ranks\n"
        "share the samples, and write into one file, which is the same on any number of them if the function takes whole\n"
        "batches, as those that come with trainrt do. It appears whole or not at all; --force replaces one that is there,\n"
        "but never a file of the dataset itself.\n"
        "Nothing in the run directory is changed. One that was stopped or failed writes no file, and begins anew: what a "
        "kill\n"
        "leaves beside the file (.NAME.tmp.HOST.PID) is removed by the next command that writes there.\n"
        "Exit codes: 0 written, 64 bad usage, checkpoint or data, 70 it failed or was stopped.\n",
    .run = predict_command};

}  // namespace trainrt::cli::plugins
