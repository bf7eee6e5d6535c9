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
    {.key = "tune.metric", .help = "the name of the reported number by which trials are compared; only fifo does without"},
    {.key = "tune.mode",
     .default_value = "max",
     .help = "whether a larger metric is better, or a smaller one",
     .choices = {"min", "max"}},
    {.key = "tune.num_samples",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "trials; with grids so many for each of their combinations",
     .range = {.least = 1, .most = 1e7}},
    {.key = "tune.searcher", .default_value = "random", .help = "where trials lie in the space; `trainrt list` shows them"},
    {.key = "tune.searcher_program",
     .help = "a command for /bin/sh that says instead where the next trial lies, out of all trials so far (src/tune)"},
    {.key = "tune.scheduler",
     .default_value = "fifo",
     .help = "which trials end before their time; its keys are in [tune.NAME]"},
    {.key = "tune.seed",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "of what is drawn: the same sweep has the same trials",
     .range = {.least = 0, .most = 1e15}},
    {.key = "tune.workers",
     .type = OptionType::integer,
     .default_value = "1",
     .help = "ranks a trial",
     .range = {.least = 1, .most = 1e6}},
    {.key = "tune.place",
     .default_value = "auto",
     .help = "where trials run: steps, each in a step of the Slurm job or, elsewhere, in processes of its own; slices, in "
             "ranks of one step that are started once; auto: slices if srun or mpiexec has started `trainrt tune`",
     .choices = {"auto", "slices", "steps"}},
    {.key = "tune.max_concurrent_trials",
     .type = OptionType::integer,
     .default_value = "0",
     .help = "trials at once of one `trainrt tune`; 0: as many as the job has tasks for, or one outside Slurm",
     .range = {.least = 0, .most = 10000}},
    {.key = "tune.max_failures",
     .type = OptionType::integer,
     .default_value = "2",
     .help = "so often a trial that fails is tried again; the sweep goes on without it then",
     .range = {.least = 0, .most = 1e6}},
    {.key = "tune.fail_fast",
     .type = OptionType::boolean,
     .default_value = "false",
     .help = "whether the sweep stops instead"},
}};

bool is_scheduler(const std::string& name) {
  const auto names = names_of(scheduler_table());
  return std::ranges::find(names, name) != names.end();
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
      if (!is_scheduler(name))
        throw UsageError(fmt::format("{}: there is no scheduler '{}' for [tune.{}]; there are: {}", value.origin, name,
                                     name, join(names_of(scheduler_table()))));
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
