#include "trainer/records/finished_run.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "config/program_settings.hpp"
#include "config/renamed_keys.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "trainer/start/code_files.hpp"

namespace trainrt::trainer {

namespace {

using Change = rundir::RunRecord::Change;

constexpr std::size_t max_value_bytes = 120;
constexpr std::size_t max_changes_listed = 10;
/// End of the command with which fit() launches ranks.
constexpr std::string_view program_of_fit = "-m trainrt.train._fit._worker";

/// Returns the last component of a config key: "epochs" for "loop.train_loop_config.epochs".
std::string last_part(const std::string& key) { return key.substr(key.find_last_of("./") + 1); }

/// Returns whether a [loop] key whose last component is `name` sets the length of the training, such as "epochs",
/// "num_train_epochs" or "max_steps".
bool is_length(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "num_boost_round" || name == "n_estimators") return true;
  constexpr std::array<std::string_view, 8> prefixes{"num_train_", "num_", "max_", "total_", "train_", "n_", "nb_", ""};
  constexpr std::array<std::string_view, 8> units{"epochs", "epoch", "steps",  "iterations",
                                                  "iters",  "iter",  "rounds", "updates"};
  return std::ranges::any_of(prefixes, [&](auto prefix) {
    return name.starts_with(prefix) && std::ranges::find(units, name.substr(prefix.size())) != units.end();
  });
}

/// A rule of [stop] that ends the run when a metric is at least `bound`, or, if `at_least` is false, at most `bound`.
struct BoundRule {
  bool at_least = true;
  double bound = 0;
};

/// Returns the rule in `text`, the value of a [stop] key. Returns nullopt if `text` is not a bound such as ">= 0.9".
std::optional<BoundRule> parse_bound(std::string_view text) {
  const bool has_sign = text.starts_with(">=") || text.starts_with("<=");
  const auto bound = parse_real(trim(has_sign ? text.substr(2) : text));
  if (!bound) return std::nullopt;
  return BoundRule{!text.starts_with("<="), *bound};
}

/// Returns whether the change of a [stop] key may make the run longer. An added rule can only make the run shorter.
bool is_later_rule(const Change& change) {
  if (change.from.empty()) return false;
  if (change.to.empty()) return true;
  const auto before = parse_bound(change.from), now = parse_bound(change.to);
  if (!before || !now || before->at_least != now->at_least) return true;
  return now->at_least ? now->bound > before->bound : now->bound < before->bound;
}

/// Returns whether the change of a key makes the train function's early stopping wait longer or turns it off. An example is
/// a change of "early_stopping_rounds" from 2 to 8 or 0.
bool is_more_patient(const Change& change) {
  const auto name = last_part(change.key);
  if (name.find("early_stopping") == std::string::npos && name != "patience") return false;
  const auto before = parse_real(change.from), now = parse_real(change.to);
  return before && *before > 0 && (change.to.empty() || (now && (*now <= 0 || *now > *before)));
}

bool requests_more(const Change& change) {
  if (change.key.starts_with("stop.")) return is_later_rule(change);
  if (!change.key.starts_with("loop.")) return false;
  if (is_more_patient(change)) return true;
  if (!is_length(last_part(change.key))) return false;
  const auto before = parse_real(change.from), now = parse_real(change.to);
  return now && (change.from.empty() || (before && *now > *before));
}

std::string shown(const std::string& value) {
  return value.empty() ? "not set" : "'" + excerpt(value, max_value_bytes) + "'";
}

std::string in_words(const std::vector<Change>& changes) {
  std::vector<std::string> parts;
  for (const auto& change : changes) {
    if (parts.size() == max_changes_listed) break;
    parts.push_back(fmt::format("{} was {}, is {}", change.key, shown(change.from), shown(change.to)));
  }
  const auto more = changes.size() - parts.size();
  return join(parts, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

/// Returns a run name that no run in run.storage_path has, such as "NAME-2".
std::string free_name(const config::RunSpec& spec) {
  for (int number = 2;; ++number) {
    const auto name = fmt::format("{}-{}", spec.run.name, number);
    if (number > 1000 || !io::exists(fmt::format("{}/{}", spec.run.storage_path, name))) return name;
  }
}

/// Returns advice with the options that continue the finished run, or that start a new run from its last checkpoint.
/// Returns "" if neither is possible.
std::string advice_to_continue(const rundir::RunRecord& record, const config::RunSpec& spec) {
  for (const auto& [key, value] : record.loop)
    if (is_length(last_part(key)) && !config::is_record_of_python(key))
      return fmt::format("to continue this run with more epochs: --loop.{}=N with N > {}; ", key, value);
  for (const auto& key : spec.loop_defaults.keys())
    if (is_length(last_part(key)))
      return fmt::format("to continue this run with more epochs: --loop.{}=N with N > {}; ", key,
                         spec.loop_defaults.text(key));
  if (!record.completed_by) return {};
  return fmt::format(
      "to start a new run from the last checkpoint of this run: --run.name={} --run.resume_from_checkpoint={}; ",
      shell_quoted(free_name(spec)), shell_quoted(spec.run_dir));
}

/// Returns the alternatives, as Python code, for a script that calls fit() and was started by python3: such a script
/// has no command line of trainrt to which options could be added.
std::string choices_of_fit(const rundir::RunRecord& record, const config::RunSpec& spec) {
  const auto new_run = fmt::format("RunConfig(name='{}')", free_name(spec));
  auto choices = fmt::format("to start a new run: {}; ", new_run);
  constexpr std::string_view config = "train_loop_config.";
  for (const auto& [key, value] : record.loop)
    if (key.starts_with(config) && is_length(last_part(key)))
      choices += fmt::format("to continue this run with more epochs: train_loop_config={{'{}': N}} with N > {}; ",
                             key.substr(config.size()), value);
  if (record.completed_by)
    choices += fmt::format(
        "to start a new run from the last checkpoint of this run: {} and resume_from_checkpoint=Checkpoint('{}/{}'); ",
        new_run, spec.run_dir, checkpoint::directory_name(record.completed_by->checkpoint));
  return choices;
}

std::string choices_of_command(const rundir::RunRecord& record, const config::RunSpec& spec) {
  const auto name = free_name(spec);
  const auto in_python = spec.run.is_opened_by_program || record.opened_by_program
                             ? fmt::format(" (RunConfig(name='{}') in Python)", name)
                             : std::string();
  return fmt::format("to start a new run: --run.name={}{}; {}", shell_quoted(name), in_python,
                     advice_to_continue(record, spec));
}

[[noreturn]] void refuse(const rundir::RunRecord& record, const config::RunSpec& spec, const std::vector<Change>& changes) {
  const bool is_of_fit = spec.train.program.ends_with(program_of_fit);
  throw UsageError(
      fmt::format("the run '{}' has finished with other values than this start has: {}. Choose one of these: {}to delete "
                  "the finished run and train again: rm -r {}",
                  spec.run.name, in_words(changes),
                  is_of_fit ? choices_of_fit(record, spec) : choices_of_command(record, spec), shell_quoted(spec.run_dir)));
}

/// Removes the changes of a Python Trainer's values from `changes` if `record` has no values of a Trainer, because
/// older versions of trainrt did not record them.
void ignore_unrecorded(const rundir::RunRecord& record, std::vector<Change>& changes) {
  if (has_values_of_trainer(record)) return;
  std::erase_if(changes, [](const Change& change) {
    return change.key.starts_with("loop.") &&
           config::is_record_of_python(change.key.substr(std::string_view("loop.").size()));
  });
}

}  // namespace

rundir::ConfigTexts compared_texts(const config::RunSpec& spec) {
  return {spec.loop.texts(), spec.texts, spec.loop_defaults.texts(), {"data.", "stop.", "train.program", "run.seed"}};
}

bool has_values_of_trainer(const rundir::RunRecord& record) {
  return std::ranges::any_of(record.loop, [](const auto& each) { return config::is_record_of_python(each.first); });
}

rundir::ConfigTexts recorded_texts(const config::RunSpec& spec) {
  auto texts = compared_texts(spec);
  for (const auto* key :
       {"checkpoint.num_to_keep", "checkpoint.score_attribute", "checkpoint.score_order", "failure.max_failures"})
    texts.compared.emplace_back(key);
  return texts;
}

bool was_launched_by_fit(const rundir::RunRecord& record) {
  const auto program = record.spec.find("train.program");
  return program != record.spec.end() && program->second.ends_with(program_of_fit) && has_values_of_trainer(record);
}

void accept_program_of_fit(rundir::RunRecord& record, const config::RunSpec& spec) {
  const auto is_launched_by_fit = has_values_of_trainer(record) && spec.train.program.ends_with(program_of_fit);
  if (is_launched_by_fit || was_launched_by_fit(record)) record.spec["train.program"] = spec.train.program;
}

bool has_finished(const rundir::RunRecord& record, const config::RunSpec& spec) {
  if (record.state != rundir::RunState::finished) return false;
  auto known = record;
  known.spec = config::with_new_names(record.spec);
  accept_program_of_fit(known, spec);
  auto changes = rundir::changes_of(known, compared_texts(spec));
  ignore_unrecorded(record, changes);
  if (std::ranges::any_of(changes, requests_more)) return false;
  if (!changes.empty()) refuse(record, spec, changes);
  return true;
}

void warn_of_changed_code(const rundir::RunRecord& record, const config::RunSpec& spec, const std::string& event) {
  const auto now = code_files(spec);
  for (const auto& [path, digest] : record.code)
    if (const auto found = now.find(path); found != now.end() && found->second != digest)
      log::warning(
          fmt::format("{} has changed since {}; the results are those of the old code. "
                      "Choose another run.name to train with the new code",
                      path, event));
}

}  // namespace trainrt::trainer
