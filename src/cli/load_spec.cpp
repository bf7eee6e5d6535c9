#include "cli/load_spec.hpp"

#include <trainrt/error.hpp>

#include "cli/config_file.hpp"

namespace trainrt::cli {

config::RunSpec load_spec(std::span<const std::string> words, const std::string& usage) {
  return load_spec(parse_arguments(words, {.with_value = {"config"}, .switches = {}, .overrides = true, .usage = usage}),
                   usage);
}

config::RunSpec load_spec(const Arguments& arguments, const std::string& usage) {
  if (!arguments.has("config")) throw UsageError("--config FILE is missing; usage: trainrt " + usage);
  auto options = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) take_override(options, word);
  return config::make_run_spec(options);
}

comm::CommOptions comm_options_of(const config::RunSpec& spec) {
  return {.timeout_seconds = spec.failure.collective_timeout_s,
          .backend = spec.scaling.backend,
          .check = spec.scaling.check,
          .deterministic = spec.scaling.deterministic,
          .gpus_per_worker = spec.scaling.gpus_per_worker};
}

}  // namespace trainrt::cli
