// trainrt list: shows all train functions, config keys and plug-ins.
#include "cli/checkpoints/exporter.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "cli/start/builtin_functions.hpp"
#include "cli/terminal/print.hpp"
#include "comm/backend.hpp"
#include "comm/gpu_backend.hpp"
#include "config/section.hpp"
#include "config/stop_rules.hpp"
#include "core/text/text.hpp"
#include "data/preprocess/preprocessing.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "launch/launcher.hpp"
#include "metrics/sink.hpp"
#include "program/environments/framework_environment.hpp"
#include "trainer/events/callback_kind.hpp"
#include "trainer/start/module_loader.hpp"
#include "tune/record/sweep_keys.hpp"
#include "tune/search/scheduler.hpp"
#include "tune/search/searcher.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view list_usage = "list";

std::string facts_in_parentheses(const OptionSpec& option) {
  const auto facts = facts_of(option);
  return facts.empty() ? "" : " (" + facts + ")";
}

void print_options(std::span<const OptionSpec> options) {
  for (const auto& option : options) print_safely("  {:<28} {}{}\n", option.key, option.help, facts_in_parentheses(option));
}

template <class Record>
void print_table(std::string_view title, PluginTable<Record> table) {
  print_safely("\n{}\n", title);
  for (const auto* record : table) print_safely("  {:<28} {}\n", record->name, record->help);
}

/// Prints the plug-ins of a table, and the keys of the section [SECTION.NAME] of each.
template <class Record>
void print_with_keys(std::string_view title, PluginTable<Record> table, std::string_view section) {
  print_table(title, table);
  for (const auto* record : table) {
    if (record->options.empty()) continue;
    print_safely("\nkeys of [{}.{}]\n", section, record->name);
    print_options(record->options);
  }
}

std::string facts_of_parameter(const data::ParameterSpec& spec) {
  if (spec.type == data::ParameterType::unsupported) return "not supported";
  const auto valid = data::valid_values(spec);
  if (spec.default_value.empty()) return valid + "; required";
  if (spec.default_value.starts_with('='))
    return fmt::format("{}; default: value of {}", valid, spec.default_value.substr(1));
  return fmt::format("{}; default: {}", valid, spec.default_value);
}

void print_preprocessors() {
  for (const auto* kind : data::preprocessor_table()) {
    print_safely("\npreprocessor {}: {}\n", kind->name, kind->help);
    for (const auto& spec : kind->parameters)
      print_safely("  {:<28} {} ({})\n", spec.name, spec.help, facts_of_parameter(spec));
  }
}

ExitCode list_command(std::span<const std::string> words) {
  parse_arguments(words, {.usage = list_usage});
  print_safely("train functions\n");
  for (const auto& function : trainer::available_functions(builtin_functions())) {
    print_safely("  {:<28} {}\n", function.name, function.help);
    for (const auto& key : function.declared.loop)
      print_safely("      loop.{:<21} {}{}\n", key.key, key.help, facts_in_parentheses(key));
    if (!function.declared.datasets.empty())
      print_safely("      needs {}\n", "[data." + join(function.declared.datasets, "], [data.") + "]");
  }
  print_safely("\nconfig keys ([section] key, or --section.key=value); [loop] has the keys of the train function\n");
  print_options(config::declared_options());
  print_safely("\nkeys of [stop]: limits that end the run before its train function returns\n");
  print_options(config::stop_options());
  print_safely("\nkeys of every [data.NAME]\n");
  print_options(data::common_options());
  for (const auto* format : data::format_table()) {
    print_safely("\ndata format {}: {}\n", format->name, format->help);
    print_options(format->options);
  }
  print_preprocessors();
  print_with_keys("metric sinks", metrics::sink_table(), "sink");
  print_with_keys("callbacks (run.callbacks)", trainer::callback_table(), "callback");
  print_safely("\nkeys of [tune], for a sweep (trainrt tune)\n");
  print_options(tune::sweep_options());
  print_table("searchers (tune.searcher)", tune::searcher_table());
  print_with_keys("schedulers of trials (tune.scheduler)", tune::scheduler_table(), "tune");
  print_table("frameworks whose environment variables programs get (program.env)", program::environment_table());
  print_table("export formats", exporter_table());
  print_table("formats of predictions", predictions::writer_table());
  print_table("launchers", launch::launcher_table());
  print_table("communicator backends", comm::backend_table());
  print_table("communicator backends for GPUs", comm::gpu_backend_table());
  return ExitCode::finished;
}

}  // namespace

extern const Command list;
const Command list{.name = "list",
                   .group = CommandGroup::machine,
                   .order = 2,
                   .usage = list_usage,
                   .help = "show train functions, config keys, data formats and other plug-ins",
                   .run = list_command};

}  // namespace trainrt::cli::plugins
