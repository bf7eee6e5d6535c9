#include "tune/record/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "config/value_origin.hpp"
#include "core/text/text.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_url.hpp"
#include "trainer/records/own_run.hpp"
#include "tune/record/claims.hpp"
#include "tune/record/placeholders.hpp"
#include "tune/record/sweep_history.hpp"
#include "tune/record/sweep_keys.hpp"
#include "tune/record/sweep_mirror.hpp"
#include "tune/record/sweep_record.hpp"
#include "tune/record/trial_workers.hpp"

namespace trainrt::tune {

namespace fs = std::filesystem;

namespace {

const std::string record_name = "sweep.json";

/// Returns whether the sweep may be started again with a different config. This requires that all trials failed before
/// their first report.
bool may_change_config(const Sweep& sweep) {
  const auto history = history_of(sweep);
  return have_all_failed(sweep, history) &&
         std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.iterations == 0; });
}

/// Returns the config without the keys that may change as long as no trial has reported the metric.
std::map<std::string, std::string> without_metric(std::map<std::string, std::string> config) {
  config.erase("tune.metric");
  config.erase("tune.mode");
  return config;
}

/// Returns whether tune.metric and tune.mode may change. This requires that no trial has reported the metric, and that
/// no trial is running.
bool may_change_metric(const Sweep& sweep) {
  if (sweep.metric().empty()) return false;
  const auto history = history_of(sweep);
  constexpr int nobody = -1;
  Claims claims(sweep, nobody);
  return !has_metric(sweep, history) &&
         std::ranges::none_of(history.trials(), [&](const auto& each) { return claims.is_running(history, each.first); });
}

}  // namespace

Sweep::Sweep(const Options& config) : config_(config) {
  auto parts = sorted_config(config);
  trial_config_ = std::move(parts.trial);
  const auto options = checked(parts.sweep, sweep_options(), "");
  const auto run = config::make_run_spec(trial_config_);
  directory_ = run.run_dir;
  guarded_ = std::make_shared<GuardedTree>(directory_);
  metric_ = options.text("tune.metric");
  minimize_ = options.text("tune.mode") == "min";
  space_.emplace(parts.space);
  for (const auto& dimension : space_->dimensions()) check_dimension(dimension);
  const auto find = [&] { return &find_plugin(searcher_table(), options.text("tune.searcher"), "searcher"); };
  searcher_ = config::with_origin(config, "tune.searcher", find);
  searcher_program_ = options.text("tune.searcher_program");
  scheduler_ = options.text("tune.scheduler");
  seed_ = static_cast<std::uint64_t>(options.integer("tune.seed"));
  trials_ = static_cast<std::uint64_t>(options.integer("tune.num_samples")) * space_->grid_size();
  config::with_origin(config, "tune.scheduler", [&] { static_cast<void>(scheduler_kind()); });
  static_cast<void>(scheduler());
  take_mutations(parts.mutations);
  common_workers_ = static_cast<int>(options.integer("tune.workers"));
  max_workers_ = tune::max_workers(*space_, common_workers_);
  place_ = options.text("tune.place");
  concurrent_ = static_cast<int>(options.integer("tune.max_concurrent_trials"));
  max_failures_ = static_cast<int>(options.integer("tune.max_failures"));
  fail_fast_ = options.boolean("tune.fail_fast");
  const auto* needs_metric = scheduler_ != "fifo"         ? "tune.scheduler"
                             : !searcher_program_.empty() ? "tune.searcher_program"
                                                          : "";
  if (metric_.empty() && *needs_metric != 0)
    throw UsageError(
        fmt::format("{}{} = {} requires tune.metric, which is not set. Set tune.metric to the name of the reported number "
                    "by which trials are compared",
                    config::origin_prefix(config, needs_metric), needs_metric, options.text(needs_metric)));
}

void Sweep::take_mutations(const Options& mutations) {
  if (!makes_clones() && !mutations.keys().empty())
    throw UsageError(
        fmt::format("{}: [tune.mutations] lists the keys that clones change, but tune.scheduler = {} makes no clones. Set "
                    "tune.scheduler = pbt, or remove [tune.mutations]",
                    mutations.find(mutations.keys().front())->origin, scheduler_));
  if (mutations.keys().empty()) {
    std::ranges::copy_if(space_->dimensions(), std::back_inserter(mutations_), [this](const auto& dimension) {
      return is_drawn(dimension.domain) && !is_condition(dimension.key);
    });
  } else {
    mutations_ = SearchSpace(mutations, "[tune.mutations]").dimensions();
  }
  if (makes_clones() && mutations_.empty())
    throw UsageError(config::origin_prefix(config_, "tune.scheduler") +
                     "tune.scheduler = pbt has no key to change in clones: [tune.space] has no random domain, such as "
                     "loguniform(1e-4, 1e-1). List keys in [tune.mutations]");
  for (const auto& mutation : mutations_) {
    if (is_condition(mutation.key))
      throw UsageError(fmt::format("{}: [tune.mutations] {}: a clone cannot change a key on which other keys depend",
                                   mutation.origin, mutation.key));
    if (std::ranges::find(space_->dimensions(), mutation.key, &SearchSpace::Dimension::key) == space_->dimensions().end())
      throw UsageError(fmt::format("{}: [tune.mutations] {}: the key needs an initial value in [tune.space]",
                                   mutation.origin, mutation.key));
  }
}

/// Returns whether another key of the space depends on `key`.
bool Sweep::is_condition(const std::string& key) const {
  return std::ranges::any_of(space_->dimensions(),
                             [&](const auto& each) { return each.condition && each.condition->key == key; });
}

void Sweep::check_dimension(const SearchSpace::Dimension& dimension) const {
  if (dimension.key.starts_with("run."))
    throw UsageError(fmt::format("{}: [tune.space] {}: trials cannot set keys of [run]; each trial has its own directory",
                                 dimension.origin, dimension.key));
  auto program = trial_config_.text("train.program");
  if (dimension.condition && fill_placeholder(program, dimension.key, ""))
    throw UsageError(fmt::format(
        "{}: [tune.space] {}: a key with a condition cannot be used in train.program, which always needs its value",
        dimension.origin, dimension.key));
}

Sweep Sweep::opened(const std::string& directory) {
  const auto path = directory + "/" + record_name;
  if (!std::filesystem::exists(path)) throw UsageError(fmt::format("'{}' is not a sweep: it has no sweep.json", directory));
  const auto record = sweep_record_from(io::read_file(path));
  if (!record) throw UsageError(fmt::format("'{}' is damaged: it is not a JSON object", path));
  Options config;
  for (const auto& [key, text] : record->config) config.set(key, {text, path});
  const auto given = std::filesystem::absolute(directory).lexically_normal();
  const auto folder = given.has_filename() ? given : given.parent_path();
  config.set("run.storage_path", {folder.parent_path().string(), path});  // the directory may have been moved since
  Sweep sweep(config);
  sweep.directory_ = directory;
  sweep.guarded_ = std::make_shared<GuardedTree>(directory);
  return sweep;
}

Options Sweep::common_config() const {
  auto common = trial_config_;
  common.set("run.storage_path", {directory_, ""});
  return common;
}

std::string Sweep::begin(const std::string& trial_file) const {
  if (fs::exists(directory_ + "/run.json"))
    throw UsageError(fmt::format("'{}' is the directory of a run; choose another run.name for the sweep", directory_));
  const auto path = directory_ + "/" + record_name;
  trainer::require_own(config::make_run_spec(trial_config_), record_name);
  if (!fs::exists(path)) require_own_mirror();
  io::make_directories(journal());
  io::make_directories(claims());
  const auto record = sweep_record_text(config_.texts());
  const auto changed = io::create_exclusive(path, record) ? std::string() : resume(record);
  // Trials execute the programs that this file names, so a file with other content is replaced by the caller's config.
  if (!io::create_exclusive(config_file(), trial_file) && io::read_file(config_file()) != trial_file)
    io::replace_file(config_file(), trial_file);
  put_config_into_mirror(config::make_run_spec(trial_config_), record_name);
  return changed;
}

void Sweep::require_own_mirror() const {
  const auto spec = config::make_run_spec(trial_config_);
  const auto text = config_in_mirror(spec, record_name);
  if (text.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format(
        "checkpoint.mirror = {} already has a sweep '{}' {}. Choose another run.name or mirror, or remove that sweep",
        spec.checkpoint.mirror, spec.run.name, why));
  };
  auto before = sweep_record_from(text);
  if (!before) refuse("with a damaged sweep.json");
  if (const auto changed = differences(before->config, config_.texts()); !changed.empty())
    refuse("with another config: " + changed);
  if (makes_clones() && !restore_clones_from_mirror(*this)) refuse("without its journal, which tune.scheduler = pbt needs");
  if (!makes_clones() && (scheduler_ != "fifo" || !searcher_program_.empty())) restore_trials_from_mirror(*this);
}

/// Throws UsageError for a changed config, because new trials could not be compared with the existing ones.
void Sweep::refuse(const std::string& changed) const {
  const auto name = fs::path(directory_).filename().string();
  auto free = name;
  for (int number = 2; number < 1000 && fs::exists(fs::path(directory_).parent_path() / free); ++number)
    free = fmt::format("{}-{}", name, number);
  throw UsageError(fmt::format(
      "the sweep in '{}' was started with another config: {}. New trials could not be compared with its trials. "
      "Start a new sweep with --run.name={} (in Python RunConfig(name=...)), use the old values to continue this "
      "sweep, or delete it with rm -r {}",
      directory_, changed, shell_quoted(free), shell_quoted(directory_)));
}

/// Continues an existing sweep and writes `record` to sweep.json. Returns a description of the changes.
std::string Sweep::resume(const std::string& record) const {
  const auto path = directory_ + "/" + record_name;
  const auto text = io::read_file(path);
  const auto before = sweep_record_from(text);
  if (!before) throw UsageError(fmt::format("'{}' is damaged: it is not a JSON object", path));
  const auto as_begun = Sweep::opened(directory_);
  const auto changed = differences(before->config, config_.texts());
  const bool is_metric_only = differences(without_metric(before->config), without_metric(config_.texts())).empty();
  const bool metric_may_change = !changed.empty() && is_metric_only && may_change_metric(as_begun);
  if (!changed.empty() && !metric_may_change && !may_change_config(as_begun)) refuse(changed);
  const auto had = as_begun.trials();
  if (trials_ < had)
    throw UsageError(fmt::format("the sweep in '{}' has {} trials, but the config only {}: increase tune.num_samples",
                                 directory_, had, trials_));
  if (before->config == config_.texts() && (before->has_code || text == record)) return {};
  io::replace_file(path, record);
  if (metric_may_change) return "no trial has reported the metric; the sweep continues with: " + changed;
  if (!changed.empty()) return "all trials failed before their first report; the sweep starts again with: " + changed;
  return trials_ > had ? fmt::format("the number of trials grows from {} to {}", had, trials_) : "";
}

std::string Sweep::metric_origin() const {
  const auto* metric = config_.find("tune.metric");
  return metric == nullptr ? "" : metric->origin;
}

std::string Sweep::name_of(std::uint64_t trial, int generation) const {
  return generation == 1 ? fmt::format("trial_{:05}", trial) : fmt::format("trial_{:05}-{}", trial, generation);
}

Params Sweep::params_of(std::uint64_t trial) const {
  std::vector<double> units;
  for (std::size_t i = 0; i < space_->dimensions().size(); ++i) units.push_back(searcher_->unit(seed_, trial, i));
  return space_->at(trial % space_->grid_size(), units);
}

Options Sweep::own_config_of(std::uint64_t trial, const Params& params, const CloneStart& start) const {
  Options own;
  own.set("run.name", {name_of(trial, start.generation), ""});
  if (start.generation > 1) {
    own.set("run.resume_from_checkpoint", {directory_ + "/" + start.checkpoint, ""});
    own.set("run.resume_iteration", {"continue", ""});
  }
  if (!trial_config_.has("failure.max_failures")) own.set("failure.max_failures", {"0", ""});  // the sweep restarts it
  // Each sweep needs its own folder in the mirror, because trials of different sweeps have the same names.
  if (const auto mirror = trial_config_.text("checkpoint.mirror"); !mirror.empty())
    own.set("checkpoint.mirror", {io::url_below(mirror, std::filesystem::path(directory_).filename().string()), ""});
  auto program = trial_config_.text("train.program");
  for (const auto& dimension : space_->dimensions()) {
    const auto value = params.find(dimension.key);
    if (value != params.end() && !fill_placeholder(program, dimension.key, value->second))
      own.set(dimension.key, {value->second, dimension.origin});
  }
  if (program != trial_config_.text("train.program"))
    own.set("train.program", {program, trial_config_.find("train.program")->origin});
  return own;
}

Options Sweep::config_of(std::uint64_t trial, const Params& params) const {
  auto config = common_config();
  const auto own = own_config_of(trial, params);
  for (const auto& key : own.keys()) config.set(key, *own.find(key));
  return config;
}

double Sweep::score_of(double metric) const {
  return std::isnan(metric) ? worst_score : std::clamp(minimize_ ? -metric : metric, worst_score, -worst_score);
}

const SchedulerKind& Sweep::scheduler_kind() const { return find_plugin(scheduler_table(), scheduler_, "scheduler"); }

std::unique_ptr<Scheduler> Sweep::scheduler() const {
  return scheduler_kind().open(scheduler_options(scheduler_, config_), {seed_, trials_});
}

}  // namespace trainrt::tune
