#include "cli/start/load_run_spec.hpp"

#include <fmt/format.h>
#include <boost/program_options/parsers.hpp>
#include <trainrt/error.hpp>

#include "cli/config/config_file.hpp"
#include "cli/config/program_defaults.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/output/start_report.hpp"
#include "core/text/text.hpp"
#include "rundir/storage/trust.hpp"
#include "trainer/start/expanded_config.hpp"

namespace trainrt::cli {

namespace {

std::string as_shell_command(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(shell_quoted(word));
  return join(quoted, " ");
}

/// Returns the words of the program, which follow `--` or are the value of train.program; empty for a train function.
std::vector<std::string> command_of(const Arguments& arguments, Options& options, const std::string& usage) {
  if (arguments.program && arguments.program->empty())
    throw UsageError("missing argument after --: PROGRAM; usage: trainrt " + usage);
  if (arguments.program && arguments.program->front().starts_with("-"))
    throw UsageError(fmt::format("'{}' after -- is not a program: options and keys of trainrt come before --",
                                 excerpt(arguments.program->front(), 60)));
  if (arguments.program) {
    options.set("train.program", {as_shell_command(*arguments.program), std::string(command_line)});
    return *arguments.program;
  }
  const auto* program = options.find("train.program");
  return program == nullptr ? std::vector<std::string>() : split_program(*program);
}

Arguments spec_arguments(std::span<const std::string> words, const std::string& usage) {
  static constexpr CommandOption options[] = {config_option, trust_owner_option, verbose_option};
  return parse_arguments(words, {.options = options, .overrides = true, .program = true, .usage = usage});
}

}  // namespace

std::vector<std::string> split_program(const OptionValue& program) {
  try {
    return boost::program_options::split_unix(program.text);
  } catch (const std::exception& error) {
    throw UsageError(fmt::format(
        "{}: train.program: '{}' cannot be split into words: {} (a backslash may precede only a quote or a backslash)",
        program.origin, program.text, error.what()));
  }
}

void trust_given_owner(const Arguments& arguments) {
  if (arguments.has("trust-owner")) rundir::trust_owners(arguments.options.at("trust-owner"));
}

Options read_given_options(const Arguments& arguments, const std::string& usage) {
  if (!arguments.has("config") && !arguments.program)
    throw UsageError("missing argument: --config FILE or -- PROGRAM; usage: trainrt " + usage);
  trust_given_owner(arguments);
  Options options;
  if (arguments.has("config")) options = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) apply_override(options, word);
  return options;
}

config::RunSpec run_spec_from(Options given, const Arguments& arguments, const std::string& usage) {
  const auto environment = Environment::of_process();
  const auto command = command_of(arguments, given, usage);
  auto options = trainer::expanded_config(given, environment);
  const bool is_named_here = !command.empty() && add_program_defaults(options, command, environment);
  auto spec = config::make_run_spec(options);
  spec.train.command = command;
  spec.run.is_name_default = is_named_here;
  if (is_named_here) spec.run.continue_with = config::name_option(spec.run.name);
  return spec;
}

config::RunSpec load_run_spec(std::span<const std::string> words, const std::string& usage) {
  const auto arguments = spec_arguments(words, usage);
  if (arguments.has("verbose")) StartReport::of_process().enable();
  return load_run_spec(arguments, usage);
}

config::RunSpec load_run_spec(const Arguments& arguments, const std::string& usage) {
  return run_spec_from(read_given_options(arguments, usage), arguments, usage);
}

}  // namespace trainrt::cli
