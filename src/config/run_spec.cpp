#include "config/run_spec.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/renamed_keys.hpp"
#include "config/section.hpp"
#include "config/stop_rules.hpp"

namespace trainrt::config {

namespace {

/// Returns the member of `spec` that stores the section of `key`, if the keys of this section are not declared, such as
/// [loop]. Removes the section's name from `key`. Returns nullptr if the section has declared keys. Throws UsageError
/// if the form of `key` is invalid.
Options* free_section_of(std::string& key, const OptionValue& value, RunSpec& spec) {
  const auto dot = key.find('.');
  const auto section = key.substr(0, dot);
  const auto rest = dot == std::string::npos ? std::string() : key.substr(dot + 1);
  if (section == "loop" || section == "stop") {
    if (rest.empty()) throw UsageError(fmt::format("{}: a key of [{}] has no name", value.origin, section));
    key = rest;
    return section == "loop" ? &spec.loop : &spec.stop;
  }
  if (section == "tune")
    throw UsageError(
        fmt::format("{}: '{}' is a key of a sweep; `trainrt tune --config FILE` runs sweeps", value.origin, key));
  if (section != "data" && section != "sink" && section != "callback") return nullptr;
  const auto end_of_name = rest.find('.');
  if (end_of_name == std::string::npos || end_of_name == 0)
    throw UsageError(fmt::format("{}: '{}' is not of the form {}.NAME.key", value.origin, key, section));
  const auto name = rest.substr(0, end_of_name);
  if (!is_plain_name(name))
    throw UsageError(
        fmt::format("{}: the NAME of [{}.NAME] is '{}'; it must be {}", value.origin, section, name, plain_name_form));
  key = rest.substr(end_of_name + 1);
  return &(section == "data" ? spec.data : section == "sink" ? spec.sink : spec.callback)[name];
}

/// Throws UsageError for a key of [run], [train] or [data.NAME] that a train function reads, such as "train.lr".
void refuse_key_of_loop(const std::string& key, const OptionValue& value) {
  static constexpr std::array<std::string_view, 8> keys_of_loop{"lr",         "learning_rate", "epochs",    "num_epochs",
                                                                "max_epochs", "batch_size",    "batchsize", "optimizer"};
  const auto section = key.substr(0, key.find('.')), name = key.substr(key.rfind('.') + 1);
  if (section != "run" && section != "train" && section != "data" && section != "checkpoint") return;
  if (std::ranges::find(keys_of_loop, name) != keys_of_loop.end())
    throw UsageError(fmt::format("{}: unknown key '{}': a key of the train function belongs in [loop]: loop.{}",
                                 value.origin, key, name));
}

/// Copies the options of sections without declared keys ([loop], [stop], [data.NAME] ...) into `spec`, and returns all
/// other options.
Options take_free_sections(const Options& options, RunSpec& spec) {
  Options declared;
  for (auto key : options.keys()) {
    const auto& value = *options.find(key);
    refuse_key_of_loop(key, value);
    auto* const section = free_section_of(key, value, spec);
    (section != nullptr ? section : &declared)->set(key, value);
  }
  return declared;
}

void take_declared_sections(const Options& options, RunSpec& spec) {
  for (const auto* section : sections())
    for (const auto& key : section->keys)
      if (const auto* value = options.find(key.option.key)) key.take(value->text, spec);
  for (const auto* section : sections()) section->check(options, spec);
}

void note_section(const std::string& name, const Options& options, RunSpec& spec) {
  for (const auto& [key, value] : options.texts()) spec.texts.emplace(name + "." + key, value);
}

void note_texts(const Options& options, RunSpec& spec) {
  spec.texts = options.texts();
  for (const auto& [name, keys] : spec.data) note_section("data." + name, keys, spec);
  for (const auto& [name, keys] : spec.sink) note_section("sink." + name, keys, spec);
  for (const auto& [name, keys] : spec.callback) note_section("callback." + name, keys, spec);
  note_section("stop", spec.stop, spec);
}

}  // namespace

const OptionValue* RunSpec::loop_value(std::string_view key) const {
  const auto* value = loop.find(key);
  return value != nullptr ? value : loop_defaults.find(key);
}

void rename(RunSpec& spec, const std::string& name) {
  spec.run.name = name;
  spec.texts["run.name"] = name;
  spec.run_dir = (std::filesystem::path(spec.run.storage_path) / name).string();
}

RunSpec make_run_spec(const Options& given) {
  require_not_renamed(given);
  RunSpec spec;
  spec.given = given;
  const auto options = checked(take_free_sections(given, spec), declared_options(), "");
  take_declared_sections(options, spec);
  note_texts(options, spec);
  rename(spec, spec.run.name);
  static_cast<void>(StopRules(spec.stop));  // throws UsageError if the stop rules are invalid
  return spec;
}

}  // namespace trainrt::config
