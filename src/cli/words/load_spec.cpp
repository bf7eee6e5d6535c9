#include "cli/words/load_spec.hpp"

#include <fmt/format.h>
#include <boost/program_options/parsers.hpp>
#include <trainrt/error.hpp>

#include "cli/words/config_file.hpp"
#include "cli/words/program_defaults.hpp"
#include "core/environment.hpp"
#include "core/text/text.hpp"
#include "rundir/storage/trust.hpp"
#include "trainer/start/expanded_config.hpp"

namespace trainrt::cli {

namespace {

std::string as_one_text(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(shell_quoted(word));
  return join(quoted, " ");
}

/// The program's words: those behind `--`, else those of train.program; none for a train function.
std::vector<std::string> command_of(const Arguments& arguments, Options& options, const std::string& usage) {
  if (arguments.program && arguments.program->empty())
    throw UsageError("no program stands behind --; usage: trainrt " + usage);
  if (arguments.program) {
    options.set("train.program", {as_one_text(*arguments.program), std::string(command_line)});
    return *arguments.program;
  }
  const auto* program = options.find("train.program");
  return program == nullptr ? std::vector<std::string>() : program_words(*program);
}

Arguments spec_arguments(std::span<const std::string> words, const std::string& usage) {
  return parse_arguments(words,
                         {.with_value = {"config", "trust-owner"}, .overrides = true, .program = true, .usage = usage});
}

}  // namespace

std::vector<std::string> program_words(const OptionValue& program) {
  try {
    return boost::program_options::split_unix(program.text);
  } catch (const std::exception& error) {
    throw UsageError(fmt::format(
        "{}: train.program: '{}' cannot be split into words: {} (a backslash stands before a quote or a backslash only)",
        program.origin, program.text, error.what()));
  }
}

void take_trust(const Arguments& arguments) {
  if (arguments.has("trust-owner")) rundir::trust_owners(arguments.options.at("trust-owner"));
}

Options given_values(const Arguments& arguments, const std::string& usage) {
  if (!arguments.has("config") && !arguments.program)
    throw UsageError("--config FILE is missing, or -- and a program; usage: trainrt " + usage);
  take_trust(arguments);
  Options options;
  if (arguments.has("config")) options = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) take_override(options, word);
  return options;
}

config::RunSpec spec_of(Options given, const Arguments& arguments, const std::string& usage) {
  const auto environment = Environment::of_process();
  const auto command = command_of(arguments, given, usage);
  auto options = trainer::expanded_config(given, environment);
  const bool is_named_here = !command.empty() && add_program_defaults(options, command, environment);
  auto spec = config::make_run_spec(options);
  spec.train.command = command;
  spec.run.is_name_default = is_named_here;
  return spec;
}

config::RunSpec load_spec(std::span<const std::string> words, const std::string& usage) {
  return load_spec(spec_arguments(words, usage), usage);
}

config::RunSpec load_spec(const Arguments& arguments, const std::string& usage) {
  return spec_of(given_values(arguments, usage), arguments, usage);
}

}  // namespace trainrt::cli
