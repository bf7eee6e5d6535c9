#pragma once
#include <map>
#include <span>
#include <string>

#include "core/options.hpp"

namespace trainrt::tune {

/// The keys of [tune].
std::span<const OptionSpec> sweep_options();

/// A config's keys: those of [tune], of [tune.space] and [tune.mutations] and of each [tune.SCHEDULER] without the
/// section's name; what is left is what every trial has.
struct SortedConfig {
  Options sweep, space, mutations, trial;
  std::map<std::string, Options> schedulers;
};
/// UsageError for a section of a scheduler that is not there.
SortedConfig sorted_config(const Options& config);

/// The checked keys of [tune.NAME], for that scheduler. UsageError if there is none of that name.
Options scheduler_options(const std::string& name, const Options& config);

}  // namespace trainrt::tune
