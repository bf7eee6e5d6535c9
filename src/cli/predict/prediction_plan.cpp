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
#include "config/renamed_keys.hpp"
#include "config/section.hpp"
#include "core/environment.hpp"
#include "core/module_folders.hpp"
#include "core/text/text.hpp"
#include "data/section/prepare.hpp"
#include "data/source/skipping_reader.hpp"
#include "frameworks/builtin_functions.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/start/expanded_config.hpp"
#include "trainer/start/module_loader.hpp"
#include "trainer/start/trainer_spec.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view data_prefix = "data.";
constexpr const char* origin_of_predict = "trainrt predict";
const std::set<std::string> keys_of_training = {"shuffle", "shuffle_seed", "block", "window", "split", "draw_by_weight"};

bool is_library(const std::string& key) { return key.ends_with(".library") && !key.starts_with(data_prefix); }

void set_given(Options& options, const std::string& key, const std::string& text, const std::string& origin) {
  if (!text.empty()) options.set(key, {text, origin});
}

std::string origin_of(const fs::path& checkpoint) { return fs::path(checkpoint::run_of(checkpoint)) / "run.json"; }

/// Paths that a run has recorded are written out; those of the command line may name environment variables.
void take_overrides(Options& options, const Arguments& arguments) {
  Options given;
  for (const auto& word : arguments.overrides) apply_override(given, word);
  const auto expanded = trainer::expanded_config(given, Environment::of_process());
  for (const auto& key : expanded.keys()) options.set(key, *expanded.find(key));
}

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) { return {paths.begin(), paths.end()}; }

/// What of a run's config a prediction goes by: not how it was launched, nor how it was saved.
void take_run(Options& options, const rundir::RunRecord& record, const std::string& origin) {
  for (const auto& [key, text] : record.loop) options.set("loop." + key, {text, origin});
  for (const auto& [key, text] : record.spec)
    if (key.starts_with(data_prefix) || key == "run.seed" || (is_library(key) && is_installed_module(text)))
      set_given(options, key, text, origin);
  const auto program = record.spec.find("train.program");
  const bool is_program = program != record.spec.end() && !program->second.empty();
  if (!is_program && record.function != trainer::function_of_program)
    set_given(options, "train.function", record.function, origin);
}

/// The run directory may be another user's: a library that it names is loaded only if it is installed as a module.
void require_library(const Options& options, const rundir::RunRecord& record, const std::string& origin) {
  const auto* function = options.find("train.function");
  if (function == nullptr || function->origin != origin) return;  // the caller names another
  for (const auto& [key, text] : record.spec) {
    const bool is_needed = key == "train.library" || key == function->text + ".library";
    if (!is_library(key) || text.empty() || !is_needed || !options.text(key).empty()) continue;
    throw UsageError(fmt::format(
        "the library '{}', which {} names ({}), is not loaded: a run directory cannot choose the code that runs. If you "
        "trust the library, give it: --{}='{}'. Libraries in the module folders need no option: {}",
        text, origin, key, key, text, join(texts_of(module_folders()))));
  }
}

/// Of a checkpoint that lies in no run directory there is none.
std::optional<rundir::RunRecord> take_record(Options& options, const std::string& checkpoint) {
  const fs::path run = checkpoint::run_of(checkpoint);
  auto record = rundir::read_run_record(run);
  if (record) record->spec = config::with_new_names(record->spec);
  const auto name = run.filename().string();
  options.set("run.name", {config::is_plain_name(name) ? name : "run", origin_of_predict});
  options.set("run.storage_path", {run.parent_path().string(), origin_of_predict});
  if (record) take_run(options, *record, origin_of(checkpoint));
  return record;
}

void require_function(const Options& options, bool has_record, const std::string& checkpoint) {
  if (!options.text("train.function").empty() || !options.text("train.library").empty()) return;
  if (has_record)
    throw UsageError(
        fmt::format("the run of {} trained a program: `trainrt predict` works with train functions. One that can load its "
                    "checkpoints is named by --train.function=NAME or --train.library=FILE.so",
                    checkpoint));
  throw UsageError(
      fmt::format("{} lies in no run directory (run.json): say which train function it is of, --train.function=NAME or "
                  "--train.library=FILE.so, and its keys, --loop.KEY=VALUE",
                  checkpoint));
}

/// NAME of --data.NAME.key=value.
std::string name_in(const std::string& word) {
  const auto rest = word.substr(std::string("--data.").size());
  return rest.substr(0, rest.find('.'));
}

std::string chosen_dataset(const Arguments& arguments) {
  if (const auto given = arguments.options.find("dataset"); given != arguments.options.end()) return given->second;
  std::vector<std::string> names;
  for (const auto& word : arguments.overrides)
    if (word.starts_with("--data.") && !std::ranges::count(names, name_in(word))) names.push_back(name_in(word));
  if (names.size() > 1)
    throw UsageError(fmt::format("predictions are made over one dataset, and there are keys of {}: choose it, --dataset {}",
                                 join(names), names.front()));
  return names.empty() ? "test" : names.front();
}

[[noreturn]] void refuse_dataset(const std::string& name, const OptionValue& value, const std::string& why) {
  throw UsageError(fmt::format("{}: [data.{}] {}; predictions are of each sample once", value.origin, name, why));
}

/// Each sample once, in its order, whatever training does with them.
Options in_order(const std::string& name, const Options& given) {
  Options options;
  for (const auto& key : given.keys()) {
    const auto& value = *given.find(key);
    if (key == "weights" && !value.text.empty()) refuse_dataset(name, value, "mixes its sources by weights");
    if (!keys_of_training.contains(key)) options.set(key, value);
  }
  if (data::skips_errors(options)) refuse_dataset(name, *options.find("on_error"), "skips what cannot be read (on_error)");
  return options;
}

void keep_only(const std::string& name, config::RunSpec& spec) {
  const auto found = spec.data.find(name);
  if (found == spec.data.end()) {
    std::vector<std::string> there;
    for (const auto& [known, options] : spec.data) there.push_back(known);
    throw UsageError(
        fmt::format("there is no [data.{}]{}: give --data.{}.source=FILE, or --dataset with one of the run's: {}", name,
                    did_you_mean(name, there), name, there.empty() ? "none" : join(there)));
  }
  spec.data = {{name, in_order(name, found->second)}};
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
          "--keep is '{}': it takes fields of the dataset, FIELD or FIELD=NAME, with commas between", given->second));
    kept.push_back({field, name});
  }
  return kept;
}

/// A key of [loop] that names code is the caller's, as a library is.
void require_own_code(const trainer::FunctionEntry& entry, const config::RunSpec& spec) {
  for (const auto& key : entry.declared.code) {
    const auto* value = spec.loop.find(key);
    if (value == nullptr || value->origin == command_line) continue;
    throw UsageError(fmt::format(
        "the file '{}', which {} names (loop.{}), is not loaded: it is code, and a run directory cannot choose the code "
        "that runs. If you trust the file, give it: --loop.{}='{}'",
        value->text, value->origin, key, key, value->text));
  }
}

}  // namespace

PredictionPlan plan_prediction(const Arguments& arguments) {
  const auto& where = arguments.operands.at(0);
  PredictionPlan plan;
  plan.checkpoint = arguments.has("best") ? find_best_checkpoint(where) : find_checkpoint(where);
  plan.dataset = chosen_dataset(arguments);
  plan.kept = kept_fields(arguments);
  Options options;
  const auto record = take_record(options, plan.checkpoint);
  take_overrides(options, arguments);
  if (record) require_library(options, *record, origin_of(plan.checkpoint));
  require_function(options, record.has_value(), plan.checkpoint);
  plan.spec = config::make_run_spec(options);
  keep_only(plan.dataset, plan.spec);
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
