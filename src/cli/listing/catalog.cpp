#include "cli/listing/catalog.hpp"

#include <fmt/format.h>

#include "cli/checkpoints/exporter.hpp"
#include "cli/data/convert/data_writer.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "cli/start/builtin_functions.hpp"
#include "comm/backend.hpp"
#include "comm/gpu_backend.hpp"
#include "config/section.hpp"
#include "config/stop_rules.hpp"
#include "core/text/text.hpp"
#include "data/bytes/read_method.hpp"
#include "data/preprocess/preprocessing.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "data/transform/transform.hpp"
#include "launch/launcher.hpp"
#include "metrics/sink.hpp"
#include "program/environments/framework_environment.hpp"
#include "trainer/events/callback_kind.hpp"
#include "trainer/start/module_loader.hpp"
#include "tune/record/sweep_keys.hpp"
#include "tune/search/scheduler.hpp"
#include "tune/search/searcher.hpp"

namespace trainrt::cli::listing {

namespace {

std::vector<Key> keys_from(std::span<const OptionSpec> options, std::string_view section = "") {
  std::vector<Key> keys;
  const auto prefix = std::string(section) + ".";
  for (const auto& option : options)
    keys.push_back(
        {option.key.starts_with(prefix) ? option.key.substr(prefix.size()) : option.key, option.help, facts_of(option)});
  return keys;
}

Entry entry_of(const trainer::FunctionEntry& function) {
  const auto& datasets = function.declared.datasets;
  std::vector<std::string> notes;
  if (function.declared.loop.empty()) notes.emplace_back("it declares no keys of [loop]");
  if (!datasets.empty()) notes.push_back("needs [data." + join(datasets, "], [data.") + "]");
  return {function.name, function.help, "loop", keys_from(function.declared.loop), join(notes, "; ")};
}

Kind train_functions() {
  Kind kind{"functions", "train functions", "train function", {}};
  for (const auto& function : trainer::available_functions(builtin_functions())) kind.entries.push_back(entry_of(function));
  return kind;
}

Kind config_sections() {
  Kind kind{"sections", "config sections", "config section", {}};
  const auto add = [&](std::string_view name, std::string_view help, std::span<const OptionSpec> options) {
    kind.entries.push_back({std::string(name), std::string(help), std::string(name), keys_from(options, name)});
  };
  for (const auto* section : config::sections()) {
    std::vector<OptionSpec> options;
    for (const auto& key : section->keys) options.push_back(key.option);
    add(section->name, section->help, options);
  }
  add("stop", "limits that end the run before its train function returns", config::stop_options());
  add("data.NAME", "a dataset; each data format adds its own keys", data::common_options());
  add("loop",
      "the keys of the train function: `trainrt list functions` lists the functions, `trainrt list NAME` shows the keys of "
      "one of them, and `trainrt list --train.library=FILE.so NAME` those of a function in your library",
      {});
  add("tune", "hyperparameter search, for `trainrt tune` only", tune::sweep_options());
  return kind;
}

std::string facts_of_parameter(const data::ParameterSpec& spec) {
  if (spec.type == data::ParameterType::python_only) return fmt::format("in Python only; default: {}", spec.default_value);
  const auto valid = data::valid_values(spec);
  if (spec.default_value.empty()) return valid + "; required";
  if (spec.default_value.starts_with('='))
    return fmt::format("{}; default: value of {}", valid, spec.default_value.substr(1));
  return fmt::format("{}; default: {}", valid, spec.default_value);
}

Kind preprocessors() {
  Kind kind{"preprocessors", "preprocessors (key preprocess of [data.NAME])", "preprocessor", {}};
  for (const auto* each : data::preprocessor_table()) {
    std::vector<Key> keys;
    for (const auto& spec : each->parameters)
      keys.push_back({std::string(spec.name), std::string(spec.help), facts_of_parameter(spec)});
    kind.entries.push_back({std::string(each->name), std::string(each->help), "", std::move(keys)});
  }
  return kind;
}

/// Returns the plug-ins of a table that have no keys of their own.
template <class Record>
Kind without_keys(std::string_view word, std::string_view title, std::string_view singular, PluginTable<Record> table) {
  Kind kind{std::string(word), std::string(title), std::string(singular), {}};
  for (const auto* record : table) kind.entries.push_back({std::string(record->name), std::string(record->help)});
  return kind;
}

/// Returns the plug-ins of a table that have keys. The keys of a plug-in belong to the section [SECTION.NAME], or to
/// [data.NAME] if `section` is "data.NAME".
template <class Record>
Kind with_keys(std::string_view word, std::string_view title, std::string_view singular, PluginTable<Record> table,
               std::string_view section) {
  Kind kind{std::string(word), std::string(title), std::string(singular), {}};
  for (const auto* record : table)
    kind.entries.push_back({std::string(record->name), std::string(record->help),
                            section == "data.NAME" ? std::string(section) : fmt::format("{}.{}", section, record->name),
                            keys_from(record->options)});
  return kind;
}

Kind data_formats() {
  const auto formats = data::format_table();
  auto kind = with_keys("formats", "data formats", "data format", formats, "data.NAME");
  for (std::size_t i = 0; i < formats.size(); ++i)
    kind.entries[i].note = fmt::format("{}`trainrt list data` shows the keys of all formats",
                                       formats[i]->has_files ? "source = FILES names the files; " : "");
  return kind;
}

/// Returns the plug-ins of a table in which each plug-in is a key of [data.NAME].
Kind keys_of_data(std::string_view word, std::string_view title, std::string_view singular,
                  std::span<const OptionSpec> options) {
  Kind kind{std::string(word), std::string(title), std::string(singular), {}};
  for (const auto& option : options)
    kind.entries.push_back({option.key, option.help, "", {}, "value: " + facts_of(option)});
  return kind;
}

}  // namespace

std::string Entry::shown_name(const Key& key) const {
  return section.empty() || section == "data.NAME" ? key.name : section + "." + key.name;
}

Kind function_of_library(const std::string& name, const std::string& library) {
  return {"functions",
          "train functions",
          "train function",
          {entry_of(trainer::find_function(builtin_functions(), name, library))}};
}

std::vector<Kind> catalog() {
  return {train_functions(),
          data_formats(),
          keys_of_data("transforms", "transforms of fields (keys of [data.NAME])", "transform",
                       data::field_options(data::transform_table())),
          keys_of_data("augmentations", "random changes of images and fields (keys of [data.NAME])", "augmentation",
                       data::field_options(data::augmentation_table())),
          keys_of_data("operations", "operations on samples (keys of [data.NAME])", "operation", data::operation_options()),
          preprocessors(),
          without_keys("read_methods", "read methods (data.NAME.read_method)", "read method", data::read_method_table()),
          with_keys("sinks", "metric sinks", "sink", metrics::sink_table(), "sink"),
          with_keys("callbacks", "callbacks (run.callbacks)", "callback", trainer::callback_table(), "callback"),
          without_keys("searchers", "searchers (tune.searcher)", "searcher", tune::searcher_table()),
          with_keys("schedulers", "schedulers of trials (tune.scheduler)", "scheduler", tune::scheduler_table(), "tune"),
          without_keys("frameworks", "frameworks whose environment variables programs get (program.env)", "framework",
                       program::environment_table()),
          without_keys("exports", "export formats", "export format", exporter_table()),
          without_keys("predictions", "formats of predictions", "format of predictions", predictions::writer_table()),
          without_keys("conversions", "formats of trainrt data convert", "format of trainrt data convert",
                       datasets::data_writer_table()),
          without_keys("launchers", "launchers", "launcher", launch::launcher_table()),
          without_keys("backends", "communicator backends", "backend", comm::backend_table()),
          without_keys("gpu_backends", "communicator backends for GPUs", "GPU backend", comm::gpu_backend_table()),
          config_sections()};
}

}  // namespace trainrt::cli::listing
