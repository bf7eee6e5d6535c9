#include "cli/config/program_defaults.hpp"

#include <algorithm>
#include <filesystem>

#include "config/run_name.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli {

namespace {

/// Returns the module that the command runs: MODULE for `python3 -m MODULE`. Returns "" for other commands.
std::string module_of(const std::vector<std::string>& command) {
  const auto option = std::ranges::find(command, "-m");
  return option == command.end() || option + 1 == command.end() ? "" : *(option + 1);
}

std::string source_of(const std::vector<std::string>& command) {
  auto source = program::script_of(command);
  if (source.empty()) source = module_of(command);
  return source.empty() ? command.front() : source;
}

std::string default_storage(const Environment& environment) {
  const auto storage = environment.text("TRAINRT_STORAGE").value_or("");
  if (!storage.empty()) return std::filesystem::absolute(storage).lexically_normal().string();
  const auto folder = environment.text("SLURM_SUBMIT_DIR").value_or(std::filesystem::current_path().string());
  return (std::filesystem::path(folder) / "runs").string();
}

}  // namespace

std::string default_run_name(const Options& options, const std::vector<std::string>& command,
                             const Environment& environment) {
  std::vector<std::string> words, texts;
  for (const auto& key : options.keys()) {
    const auto& value = *options.find(key);
    const bool is_word =
        value.origin == command_line && key != "run.name" && key != "run.storage_path" && key != "train.program";
    if (is_word)
      words.push_back(key + "=" + value.text);
    else
      texts.push_back(value.text);
  }
  return config::generated_run_name(source_of(command), command, environment, words, texts);
}

bool add_program_defaults(Options& options, const std::vector<std::string>& command, const Environment& environment) {
  if (!options.has("run.storage_path")) options.set("run.storage_path", {default_storage(environment), "default"});
  if (options.has("run.name")) return false;
  const auto inherited_name = environment.text(config::run_name_variable);
  options.set("run.name", {inherited_name ? *inherited_name : default_run_name(options, command, environment), "default"});
  return true;
}

}  // namespace trainrt::cli
