#include "trainer/start/trainer_spec.hpp"

#include <map>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "config/launch_settings.hpp"
#include "config/run_name.hpp"
#include "core/host.hpp"
#include "trainer/start/expanded_config.hpp"

namespace trainrt::trainer {

namespace {

/// Collects config values as text, by key.
class Settings {
 public:
  void set(const std::string& key, const std::string& text) { texts_[key] = text; }
  void set_all(const std::string& section, const ConfigValues& values) {
    for (const auto& [key, value] : values) set(section + "." + key, value.text());
  }
  void set_if_given(const std::string& key, const std::string& text) {
    if (!text.empty()) set(key, text);
  }
  template <class T>
  void set_if_given(const std::string& key, const std::optional<T>& value) {
    if (value) set(key, ConfigValue(*value).text());
  }
  /// Adds the values in `more`. Throws UsageError if a key is already set or selects the train function.
  void add(const ConfigValues& more) {
    for (const auto& [key, value] : more) {
      if (key.starts_with("train.") || key.starts_with("program."))
        throw UsageError(
            fmt::format("RunConfig::settings: {} cannot be set, because the Trainer has a train function", key));
      if (const auto found = texts_.find(key); found != texts_.end())
        throw UsageError(
            fmt::format("RunConfig::settings: {} is set twice: to '{}' here, and to '{}' by a field of TrainerOptions", key,
                        value.text(), found->second));
      set(key, value.text());
    }
  }
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

Settings settings_of(const TrainerOptions& given) {
  Settings settings;
  settings.set_if_given("run.name", given.run.name);
  settings.set("run.storage_path", given.run.storage_path);
  settings.set_if_given("scaling.num_workers", given.scaling.num_workers);
  settings.set_if_given("scaling.min_workers", given.scaling.min_workers);
  settings.set_if_given("scaling.gpus_per_worker", given.scaling.gpus_per_worker);
  const auto& checkpoint = given.run.checkpoint;
  settings.set_if_given("checkpoint.every", checkpoint.every);
  settings.set_if_given("checkpoint.num_to_keep", checkpoint.num_to_keep);
  settings.set_if_given("checkpoint.score_attribute", checkpoint.score_attribute);
  if (!checkpoint.score_attribute.empty()) settings.set("checkpoint.score_order", checkpoint.score_order);
  settings.set_if_given("failure.max_failures", given.run.failure.max_failures);
  settings.set_all("loop", given.loop);
  for (const auto& [name, keys] : given.datasets) settings.set_all("data." + name, keys);
  settings.add(given.run.settings);
  return settings;
}

std::string name_of_process(const Environment& environment) {
  if (environment.has("TRAINRT_FD"))  // a default name would be equal to the name of the rank that started the program
    throw UsageError(
        "RunConfig::name is missing, and trainrt started this program as a child process: "
        "add --program.has_trainer=true to the command, or set a name");
  if (auto name = environment.text(config::run_name_variable)) return *std::move(name);
  const auto command = command_of_process();
  return config::generated_run_name(command.empty() ? "" : command.front(), command, environment);
}

}  // namespace

config::RunSpec spec_of(const TrainerOptions& given, const Environment& environment,
                        std::vector<config::SettingChange>& changes) {
  checkpoint::check_metadata(given.metadata);
  auto options = config::launch_settings_from(environment.text(config::launch_settings_variable).value_or("[]"));
  config::set_by_program(options, expanded_settings(settings_of(given).texts(), environment), changes);
  const bool has_name = options.has("run.name");
  if (!has_name) options.set("run.name", {name_of_process(environment), "default"});
  options.set("train.function", {function_of_program, std::string(config::origin_of_program)});
  auto spec = config::make_run_spec(options);
  spec.run.is_name_default = !has_name;
  return spec;
}

}  // namespace trainrt::trainer
