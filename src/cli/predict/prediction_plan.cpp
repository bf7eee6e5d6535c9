#include "cli/predict/prediction_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "cli/checkpoints/find_checkpoint.hpp"
#include "cli/config/config_file.hpp"
#include "cli/start/builtin_functions.hpp"
#include "config/renamed_keys.hpp"
#include "config/section.hpp"
#include "core/environment.hpp"
#include "core/module_folders.hpp"
#include "core/text/text.hpp"
#include "data/section/prepare.hpp"
#include "data/source/skipping_reader.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/start/expanded_config.hpp"
#include "trainer/start/module_loader.hpp"
#include "trainer/start/trainer_spec.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view data_prefix = "data.";
constexpr const char* origin_of_predict = "trainrt predict";
/// Keys that select samples for training, or set their order.
const std::set<std::string> keys_of_training = {"shuffle", "shuffle_seed", "block", "window", "split", "draw_by_weight"};

bool is_library(const std::string& key) { return key.ends_with(".library") && !key.starts_with(data_prefix); }

void set_if_given(Options& options, const std::string& key, const std::string& text, const std::string& origin) {
  if (!text.empty()) options.set(key, {text, origin});
}

std::string origin_of(const fs::path& checkpoint) { return fs::path(checkpoint::run_of(checkpoint)) / "run.json"; }

/// Stores the values of the command line. Environment variables in their paths are expanded, as they were in the recorded
/// paths of the run.
void apply_overrides(Options& options, const Arguments& arguments) {
  Options given;
  for (const auto& word : arguments.overrides) apply_override(given, word);
  const auto expanded = trainer::expanded_config(given, Environment::of_process());
  for (const auto& key : expanded.keys()) options.set(key, *expanded.find(key));
}

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) { return {paths.begin(), paths.end()}; }

/// Stores the recorded values that a prediction needs: [loop], [data.NAME], the seed, the train function and installed
/// libraries.
void apply_record(Options& options, const rundir::RunRecord& record, const std::string& origin) {
  for (const auto& [key, text] : record.loop) options.set("loop." + key, {text, origin});
  for (const auto& [key, text] : record.spec)
    if (key.starts_with(data_prefix) || key == "run.seed" || (is_library(key) && is_installed_module(text)))
      set_if_given(options, key, text, origin);
  const auto program = record.spec.find("train.program");
  const bool is_program = program != record.spec.end() && !program->second.empty();
  if (!is_program && record.function != trainer::function_of_program)
    set_if_given(options, "train.function", record.function, origin);
}

/// Throws UsageError if the train function needs a library that only the run directory names and that is not an
/// installed module. The directory may belong to another user, and must not determine the code that runs.
void require_library(const Options& options, const rundir::RunRecord& record, const std::string& origin) {
  const auto* function = options.find("train.function");
  if (function == nullptr || function->origin != origin) return;  // the command line names another function
  for (const auto& [key, text] : record.spec) {
    const bool is_needed = key == "train.library" || key == function->text + ".library";
    if (!is_library(key) || text.empty() || !is_needed || !options.text(key).empty()) continue;
    throw UsageError(
        fmt::format("the library '{}' is not loaded: a run directory cannot choose the code that runs. "
                    "Only {} names this library ({}). If you trust the library, add --{}='{}' to the command. "
                    "Libraries in the module folders need no option: {}",
                    text, origin, key, key, text, join(texts_of(module_folders()))));
  }
}

/// Reads the record of the checkpoint's run and stores its values. Returns nullopt if the checkpoint is not in a run
/// directory.
std::optional<rundir::RunRecord> read_record(Options& options, const std::string& checkpoint) {
  const fs::path run = checkpoint::run_of(checkpoint);
  auto record = rundir::read_run_record(run);
  if (record) record->spec = config::with_new_names(record->spec);
  const auto name = run.filename().string();
  options.set("run.name", {config::is_plain_name(name) ? name : "run", origin_of_predict});
  options.set("run.storage_path", {run.parent_path().string(), origin_of_predict});
  if (record) apply_record(options, *record, origin_of(checkpoint));
  return record;
}

void require_function(const Options& options, bool has_record, const std::string& checkpoint) {
  if (!options.text("train.function").empty() || !options.text("train.library").empty()) return;
  if (has_record)
    throw UsageError(
        fmt::format("the run of {} ran a program, but `trainrt predict` requires a train function: name a train function "
                    "that can load this checkpoint, with --train.function=NAME or --train.library=FILE.so",
                    checkpoint));
  throw UsageError(
      fmt::format("{} is not in a run directory (run.json): name its train function with --train.function=NAME or "
                  "--train.library=FILE.so, and its keys with --loop.KEY=VALUE",
                  checkpoint));
}

/// Returns NAME of --data.NAME.key=value.
std::string dataset_in(const std::string& word) {
  const auto rest = word.substr(std::string("--data.").size());
  return rest.substr(0, rest.find('.'));
}

std::string chosen_dataset(const Arguments& arguments) {
  if (const auto given = arguments.options.find("dataset"); given != arguments.options.end()) return given->second;
  std::vector<std::string> names;
  for (const auto& word : arguments.overrides)
    if (word.starts_with("--data.") && !std::ranges::count(names, dataset_in(word))) names.push_back(dataset_in(word));
  if (names.size() > 1)
    throw UsageError(
        fmt::format("the command line has keys of several datasets: {}. Choose one of them, for example --dataset {}",
                    join(names), names.front()));
  return names.empty() ? "test" : names.front();
}

[[noreturn]] void throw_unsuitable(const std::string& name, const OptionValue& value, const std::string& reason) {
  throw UsageError(
      fmt::format("{}: [data.{}] {}, but predictions need each sample exactly once", value.origin, name, reason));
}

/// Returns the keys of a dataset without the keys that are only for training. The dataset then has each sample once, in
/// its original order.
Options without_training_keys(const std::string& name, const Options& given) {
  Options options;
  for (const auto& key : given.keys()) {
    const auto& value = *given.find(key);
    if (key == "weights" && !value.text.empty()) throw_unsuitable(name, value, "mixes its sources by weights");
    if (!keys_of_training.contains(key)) options.set(key, value);
  }
  if (data::skips_errors(options))
    throw_unsuitable(name, *options.find("on_error"), "skips samples that cannot be read (on_error)");
  return options;
}

void select_dataset(const std::string& name, config::RunSpec& spec) {
  const auto found = spec.data.find(name);
  if (found == spec.data.end()) {
    std::vector<std::string> known_names;
    for (const auto& [known, options] : spec.data) known_names.push_back(known);
    throw UsageError(fmt::format(
        "the run has no [data.{}]{}: use --data.{}.source=FILE, or --dataset with a dataset of the run, which has: {}",
        name, did_you_mean(name, known_names), name, known_names.empty() ? "no dataset" : join(known_names)));
  }
  spec.data = {{name, without_training_keys(name, found->second)}};
}

std::vector<trainer::KeptField> kept_fields(const Arguments& arguments) {
  std::vector<trainer::KeptField> kept;
  const auto given = arguments.options.find("keep");
  if (given == arguments.options.end()) return kept;
  for (const auto& word : words_in(given->second)) {
    const auto equals = word.find('=');
    const auto field = trim(word.substr(0, equals));
    const auto name = equals == std::string::npos ? field : trim(word.substr(equals + 1));
    if (field.empty() || name.empty())
      throw UsageError(fmt::format(
          "--keep is '{}'; it must be a list of fields of the dataset, separated by commas, each FIELD or FIELD=NAME",
          given->second));
    kept.push_back({field, name});
  }
  return kept;
}

/// Throws UsageError if a key of [loop] names a file with code and is not given on the command line. As in
/// require_library(), a run directory must not determine the code that runs.
void require_own_code(const trainer::FunctionEntry& entry, const config::RunSpec& spec) {
  for (const auto& key : entry.declared.code) {
    const auto* value = spec.loop.find(key);
    if (value == nullptr || value->origin == command_line) continue;
    throw UsageError(
        fmt::format("the file '{}' is not loaded: it is code, and a run directory cannot choose the code that runs. "
                    "Only {} names this file (loop.{}). If you trust the file, add --loop.{}='{}' to the command",
                    value->text, value->origin, key, key, value->text));
  }
}

}  // namespace

PredictionPlan plan_prediction(const Arguments& arguments) {
  const auto& path = arguments.operands.at(0);
  PredictionPlan plan;
  plan.checkpoint =
      arguments.has("best") ? find_best_checkpoint(path, arguments.options.at("best")) : find_checkpoint(path);
  plan.dataset = chosen_dataset(arguments);
  plan.kept = kept_fields(arguments);
  Options options;
  const auto record = read_record(options, plan.checkpoint);
  apply_overrides(options, arguments);
  if (record) require_library(options, *record, origin_of(plan.checkpoint));
  require_function(options, record.has_value(), plan.checkpoint);
  plan.spec = config::make_run_spec(options);
  select_dataset(plan.dataset, plan.spec);
  return plan;
}

TrainFunction predicting_function(config::RunSpec& spec) {
  auto entry = trainer::find_function(builtin_functions(), spec.train.function, spec.train.library);
  require_own_code(entry, spec);
  entry.declared.datasets.clear();
  config::take_declared(entry.declared, entry.name, spec);
  const auto function = trainer::load_function(builtin_functions(), spec.train.function, spec.train.library);
  if (function.predict == nullptr)
    throw UsageError(fmt::format(
        "the train function {} cannot predict: it has no `predict` (TrainFunction in trainrt/train_function.hpp)",
        function.name));
  return function;
}

}  // namespace trainrt::cli
