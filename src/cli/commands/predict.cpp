// trainrt predict: applies a trained model to a dataset, on any number of ranks.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <poll.h>

#include "batch/signal_queue.hpp"
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
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "io/files/file.hpp"
#include "launch/expected_size.hpp"
#include "launch/rank_group.hpp"
#include "rundir/attempts/completion.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/predictions/prediction.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_command.hpp"
#include "trainer/start/rank_start.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view predict_usage = "predict CHECKPOINT|RUN_DIR -o FILE.h5|FILE.csv|FILE.npz [OPTION...]";

constexpr Example predict_examples[] = {
    {"trainrt predict runs/first -o out.csv", "[data.test] of the run"},
    {"srun trainrt predict runs/first -o out.h5 --data.test.source=new.h5", "on all ranks"}};

constexpr CommandOption predict_options[] = {
    {"output", "FILE", "file to write (required). The extension selects the format: .h5, .csv or .npz"},
    {"best", "[=METRIC[:min|max]]",
     "use the best checkpoint of the run by METRIC, by default checkpoint.score_attribute; without --best the newest"},
    {"dataset", "NAME",
     "section [data.NAME] of the run to predict; default: the name in the options --data.NAME.key=value, or test"},
    {"--data.NAME.key=value", "", "set a key of the dataset, such as --data.test.source=new.h5; may be repeated"},
    {"keep", "FIELD[=NAME],...",
     "copy fields of the dataset to the output, such as --keep id,labels=truth, which writes the field labels as truth"},
    {"--loop.key=value", "",
     "set a key of the train function; also --train.function=NAME and --train.library=FILE; default: as in the run"},
    rank_count_option,
    {"spreadsheet", "", "put an apostrophe before texts in a .csv file that a spreadsheet would interpret as a formula"},
    {"force", "", "replace an existing file, but never a file of the dataset"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote predict_exit_codes[] = {
    {0, "written"}, {64, "invalid arguments, checkpoint or data"}, {70, "failed or stopped; no file was written"}};

Arguments arguments_of(std::span<const std::string> words) {
  auto arguments = parse_arguments(
      words, {.options = predict_options, .min_operands = 1, .max_operands = 1, .overrides = true, .usage = predict_usage});
  if (!arguments.has("output")) throw UsageError(fmt::format("missing option: -o FILE; usage: trainrt {}", predict_usage));
  return arguments;
}

/// Verifies the files of a checkpoint that the train function has written, because the function may read them without a
/// check. Called on one rank.
void verify_files(const std::string& directory, const checkpoint::Manifest& manifest) {
  for (const auto& file : manifest.files)
    if (const auto damage = checkpoint::file_damage(directory, file); !damage.empty())
      throw Error(fmt::format("{}; predict with another checkpoint", damage));
}

class PredictionCommand final : public trainer::RankCommand {
 public:
  explicit PredictionCommand(const Arguments& arguments) : arguments_(arguments) {}

  config::RunSpec load_config() override {
    plan_ = plan_prediction(arguments_);
    return plan_.spec;
  }

  /// Sends the path of rank 0's checkpoint to all ranks, so that all ranks use the same checkpoint. If the run is still
  /// running, the ranks may have found different checkpoints.
  void share_values(Communicator& communicator) override {
    plan_.checkpoint = communicator.broadcast_text(plan_.checkpoint, 0);
  }

  void prepare(config::RunSpec& spec, const World& world) override {
    trainer::require_workers(spec, world.size);
    const auto function = predicting_function(spec);
    const auto manifest = checkpoint::read_manifest(plan_.checkpoint);
    iteration_ = manifest.meta.iteration;
    job_.function = function.name;
    job_.predict = function.predict;
    job_.checkpoint = {manifest.meta.number, plan_.checkpoint, manifest.meta.has_directory};
    job_.dataset = plan_.dataset;
    job_.kept = plan_.kept;
    trainer::check_spec(spec);
    RankZero(world.rank).run([&] {
      require_other_output(spec);
      warn_if_unfinished();
      output_.emplace(arguments_.options.at("output"), arguments_.has("force"), arguments_.has("quiet"),
                      PredictedTable{{}, 0, plan_.checkpoint, job_.function, plan_.dataset, arguments_.has("spreadsheet")});
      verify_files(plan_.checkpoint, manifest);
    });
    job_.make_rows = [this](const auto& fields, std::uint64_t samples) { return output_->begin(fields, samples); };
    job_.complete = [this] { output_->complete(); };
    job_.progress = [this](std::uint64_t done, std::uint64_t samples) { output_->show(done, samples); };
  }

  std::string description(const config::RunSpec& /*spec*/) const override {
    return fmt::format("{} predicts [data.{}] with {} (iteration {})", job_.function, plan_.dataset, plan_.checkpoint,
                       iteration_);
  }

  ExitCode execute(const config::RunSpec& spec, launch::Launch& launch, Communicator& communicator) override {
    trainer::predict(spec, job_, launch, communicator);
    RankZero(communicator.rank()).run([&] { print_safely("{}\n", output_->summary()); });
    return ExitCode::finished;
  }

  void discard_output() override { output_.reset(); }

 private:
  /// Warns if the run's last checkpoint is missing, as in an incomplete copy of a run directory.
  void warn_if_unfinished() const {
    const auto run_dir = checkpoint::run_of(plan_.checkpoint);
    const auto record = rundir::read_run_record(run_dir);
    const auto missing = record ? rundir::missing_end(run_dir, *record) : "";
    if (!missing.empty())
      log::warning(fmt::format("{}. The prediction uses the model of iteration {}", missing, iteration_));
  }

  /// Throws UsageError if the output would replace a file of the dataset.
  void require_other_output(const config::RunSpec& spec) const {
    const auto& path = arguments_.options.at("output");
    if (!arguments_.has("force") || !io::exists(path)) return;
    trainer::use_stores(spec);
    datasets::LocalDatasets all(spec.data, spec.run.seed);
    all.listing(plan_.dataset);
    for (const auto& [name, listing] : all.listings()) datasets::refuse_source(path, name, listing, spec.data.at(name));
  }

  const Arguments& arguments_;
  PredictionPlan plan_;
  trainer::PredictionJob job_;
  std::optional<PredictionOutput> output_;  ///< on rank 0
  std::int64_t iteration_ = 0;              ///< of the checkpoint
};

/// Starts `ranks` ranks on this node. They are not restarted after a failure, because a prediction cannot resume.
ExitCode predict_on_this_node(int ranks, const std::vector<std::string>& words) {
  if (launch::is_rank_of_several(Environment::of_process()))
    throw UsageError("-n cannot be used in one of several ranks that srun or mpiexec started: remove -n");
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
  const auto arguments = arguments_of(words);
  PredictionCommand command(arguments);
  return trainer::execute_on_ranks(command, Environment::of_process());
}

}  // namespace

extern const Command predict;
const Command predict{
    .name = "predict",
    .group = CommandGroup::checkpoints,
    .order = 4,
    .usage = predict_usage,
    .help = "apply a trained model to a dataset and write the predicted values",
    .examples = predict_examples,
    .options = predict_options,
    .notes =
        "CHECKPOINT is a checkpoint directory. For a run directory, the newest checkpoint is used.\nThe train function and "
        "[loop] are read from the run's run.json. Libraries and TorchScript files that run.json names are not loaded "
        "unless they are in a module folder: name them again on the command line.\nThe dataset may lack the fields that "
        "only training needs. Samples are predicted in the order of the dataset, without shuffling or mixing. Text fields "
        "can be written to .csv and .h5 files (as UTF-8 strings of the length of the longest text, padded with NULs); the "
        "dataset is then read once more to find that length.\nUnder srun or mpiexec, this process is one of several ranks. "
        "The ranks divide the samples and write to the same file. The file does not depend on the number of ranks if the "
        "function predicts complete batches, as the built-in functions do.\nThe run directory is not changed. A prediction "
        "that was stopped or failed cannot resume. A temporary file that a kill leaves next to FILE (.NAME.tmp.HOST.PID) "
        "is removed by the next command that writes FILE.\n",
    .exit_codes = predict_exit_codes,
    .run = predict_command};

}  // namespace trainrt::cli::plugins
