#pragma once
#include <map>
#include <span>
#include <string>

#include "core/options.hpp"

namespace trainrt::tune {

/// Returns the keys of [tune].
std::span<const OptionSpec> sweep_options();

/// The keys of a config, divided by section: [tune], [tune.space], [tune.mutations] and each [tune.SCHEDULER]. Except
/// in [tune], the keys are stored without the name of the section. `trial` has all other keys, which every trial gets.
struct SortedConfig {
  Options sweep, space, mutations, trial;
  std::map<std::string, Options> schedulers;
};
/// Divides the keys of a config by section. Throws UsageError if a section [tune.NAME] belongs to no scheduler.
SortedConfig sorted_config(const Options& config);

/// Returns the checked keys of [tune.NAME] for scheduler `name`. Throws UsageError if the scheduler is unknown.
Options scheduler_options(const std::string& name, const Options& config);

}  // namespace trainrt::tune
