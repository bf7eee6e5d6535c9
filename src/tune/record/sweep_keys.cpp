#include "tune/record/sweep_keys.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

namespace {

constexpr std::string_view section = "tune.";
constexpr std::string_view space_section = "tune.space.";
constexpr std::string_view mutations_section = "tune.mutations.";

const std::array<OptionSpec, 12> all_options{{
    {.key = "tune.metric",
     .help = "name of the reported number by which trials are compared; optional only with scheduler fifo"},
    {.key = "tune.mode",
     .default_value = "max",
     .help = "whether the metric is minimized or maximized",
     .choices = {"min", "max"}},
    {.key = "tune.num_samples",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "number of trials; with grids, number of trials for each combination of their values",
     .range = {.least = 1, .most = 1e7}},
    {.key = "tune.searcher",
     .default_value = "random",
     .help = "method that chooses the values of trials; `trainrt list` shows all"},
    {.key = "tune.searcher_program",
     .help = "shell command that replaces tune.searcher: it reads all trials so far, and prints the values of the next "
             "trial (guide: src/tune)"},
    {.key = "tune.scheduler",
     .default_value = "fifo",
     .help = "method that stops trials early; its keys are in [tune.NAME]"},
    {.key = "tune.seed",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "seed of the searcher; the same seed gives the same trials",
     .range = {.least = 0, .most = 1e15}},
    {.key = "tune.workers",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "number of ranks of each trial",
     .range = {.least = 1, .most = 1e6}},
    {.key = "tune.place",
     .default_value = "auto",
     .help = "where trials run. steps: each trial runs in its own step of the Slurm job or, without Slurm, in its own "
             "processes. slices: trials run in the ranks of one step, which are started once. auto: slices if srun or "
             "mpiexec started `trainrt tune`, otherwise steps",
     .choices = {"auto", "slices", "steps"}},
    {.key = "tune.max_concurrent_trials",
     .type = OptionType::integer,
     .default_value = "0",
     .help = "number of trials that one `trainrt tune` runs at the same time; 0: as many as the tasks of the job allow, or "
             "one trial without Slurm",
     .range = {.least = 0, .most = 10000}},
    {.key = "tune.max_failures",
     .type = OptionType::integer,
     .default_value = "2",
     .help = "how many times a failed trial is restarted; then the sweep continues without it",
     .range = {.least = 0, .most = 1e6}},
    {.key = "tune.fail_fast",
     .type = OptionType::boolean,
     .default_value = "false",
     .help = "stop the sweep when a trial has failed and will not be restarted"},
}};

bool is_scheduler(const std::string& name) {
  const auto names = names_of(scheduler_table());
  return std::ranges::find(names, name) != names.end();
}

std::string unknown_section(const std::string& name, const std::string& origin) {
  auto names = names_of(scheduler_table());
  names.insert(names.end(), {"space", "mutations"});
  const auto near = nearest(name, names);
  return fmt::format(
      "{}: unknown section [tune.{}]{}; valid sections: [tune.space], [tune.mutations], and [tune.NAME] for a "
      "scheduler NAME: {}",
      origin, name, near.empty() ? "" : fmt::format(" (did you mean [tune.{}]?)", near), join(names_of(scheduler_table())));
}

}  // namespace

std::span<const OptionSpec> sweep_options() { return all_options; }

SortedConfig sorted_config(const Options& config) {
  SortedConfig found;
  for (const auto& key : config.keys()) {
    const auto& value = *config.find(key);
    if (!key.starts_with(section)) {
      found.trial.set(key, value);
    } else if (key.starts_with(space_section)) {
      found.space.set(key.substr(space_section.size()), value);
    } else if (key.starts_with(mutations_section)) {
      found.mutations.set(key.substr(mutations_section.size()), value);
    } else if (const auto dot = key.find('.', section.size()); dot != std::string::npos) {
      const auto name = key.substr(section.size(), dot - section.size());
      if (!is_scheduler(name)) throw UsageError(unknown_section(name, value.origin));
      found.schedulers[name].set(key.substr(dot + 1), value);
    } else {
      found.sweep.set(key, value);
    }
  }
  return found;
}

Options scheduler_options(const std::string& name, const Options& config) {
  const auto& kind = find_plugin(scheduler_table(), name, "scheduler");
  const auto all = sorted_config(config).schedulers;
  const auto given = all.find(name);
  return checked(given == all.end() ? Options() : given->second, kind.options, fmt::format("[tune.{}]", name));
}

}  // namespace trainrt::tune
