#include "cli/tune/sweep_check.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/start/load_run_spec.hpp"
#include "cli/start/resolve_train_function.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "trainer/run/start_check.hpp"
#include "trainer/start/expanded_config.hpp"
#include "tune/record/metric_direction.hpp"
#include "tune/record/placeholders.hpp"
#include "tune/trials/common_error.hpp"

namespace trainrt::cli {

namespace {

/// Returns the RunSpec that the process of the trial will make from the common config file and its command line.
config::RunSpec spec_of_trial(const tune::Sweep& sweep, std::uint64_t trial) {
  auto options = trainer::written_config(sweep.common_config());
  const auto own = sweep.own_config_of(trial, sweep.params_of(trial));
  for (const auto& key : own.keys()) options.set(key, *own.find(key));
  return run_spec_from(std::move(options), {}, "tune");
}

/// Returns the error with which the trial cannot start; "" if it can start.
std::string start_error(const tune::Sweep& sweep, std::uint64_t trial) try {
  auto spec = spec_of_trial(sweep, trial);
  const auto training = prepare_train_function(spec);
  static_cast<void>(trainer::check_start(spec, training.call));
  return {};
} catch (const Error& error) {
  if (error.code() != ExitCode::usage) throw;
  return error.what();
}

/// Returns advice on lists for the error `message`, or "". [tune.space] may contain a list as one value, such as lr =
/// 0.1,0.2, which the key refuses.
std::string list_advice(const tune::Sweep& sweep, const std::string& message) {
  for (const auto& [key, domain, origin, condition] : sweep.space().dimensions()) {
    const auto* choice = std::get_if<tune::Choice>(&domain);
    if (choice == nullptr || choice->values.size() != 1) continue;
    std::string_view list = choice->values.front();
    if (list.find(',') == std::string_view::npos || message.find(fmt::format("'{}'", list)) == std::string::npos) continue;
    if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
    const auto name = key.starts_with("loop.") ? key.substr(5) : key;
    return fmt::format(". In [tune.space], {0} = choice({1}) draws one of several values, and {0} = grid({1}) tries each",
                       name, list);
  }
  return "";
}

/// Throws UsageError if the command line sets a key that trials take from [tune.space], because this value would have
/// no effect.
void refuse_fixed_dimensions(const tune::Sweep& sweep) {
  for (const auto& dimension : sweep.space().dimensions()) {
    const auto common = sweep.common_config();
    const auto* fixed = common.find(dimension.key);
    if (fixed == nullptr || fixed->origin != command_line) continue;
    const auto name = dimension.key.starts_with("loop.") ? dimension.key.substr(5) : dimension.key;
    throw UsageError(
        fmt::format("command line: --{0}={1} has no effect, because trials take {2} from [tune.space] ({3}). Remove this "
                    "option, or replace the domain: --tune.space.{2}={1}",
                    dimension.key, fixed->text, name, dimension.origin));
  }
}

}  // namespace

void log_direction(const tune::Sweep& sweep) {
  const auto [text, is_warning] = tune::direction_notice(sweep);
  if (!text.empty()) is_warning ? log::warning(text) : log::info(text);
}

void check_trials(const tune::Sweep& sweep) {
  refuse_fixed_dimensions(sweep);
  constexpr std::uint64_t max_checked = 100;
  for (std::uint64_t trial = 0; trial < std::min(sweep.trials(), max_checked); ++trial) {
    auto spec = spec_of_trial(sweep, trial);
    try {
      check_declared_keys(spec);
    } catch (const UsageError& error) {
      throw UsageError(error.what() + list_advice(sweep, error.what()));
    }
  }
  if (io::exists(sweep.directory() + "/sweep.json")) return;  // the sweep exists, and its trials may be running
  tune::check_placeholders(sweep.common_config(), sweep.space().dimensions());
  const auto error = start_error(sweep, 0);
  if (error.empty()) return;
  const auto other = tune::trial_unlike_first(sweep);
  if (!other || start_error(sweep, *other) == error) throw UsageError(error);
}

}  // namespace trainrt::cli
