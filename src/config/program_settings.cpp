#include "config/program_settings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::config {

namespace {

constexpr std::array<std::string_view, 8> open_sections = {"run",     "checkpoint", "loop",     "stop",
                                                           "metrics", "sink",       "callback", "data"};
constexpr std::array<std::string_view, 4> open_keys = {"scaling.num_workers", "scaling.min_workers", "failure.max_failures",
                                                       "failure.max_requeues"};
void require_open(const std::string& key) {
  const auto section = std::string_view(key).substr(0, key.find('.'));
  const bool is_open = std::ranges::find(open_sections, section) != open_sections.end() ||
                       std::ranges::find(open_keys, key) != open_keys.end();
  // run.output cannot be changed: output is shown before the program can set it
  if (is_open && key != "run.output") return;
  throw UsageError(
      fmt::format("the program sets {}, which must be set before the program starts: set it in the config, or with "
                  "--{}=... on the command line",
                  key, key));
}

/// Changes run.name in `options` to the numbered_name() of run `number`, unless the program has set run.name. A program's
/// second and later runs thereby get names of their own.
void number_name(Options& options, int number) {
  const auto* name = options.find("run.name");
  if (name == nullptr || name->origin == origin_of_program) return;
  options.set("run.name", {numbered_name(name->text, number), name->origin});
}

}  // namespace

std::string in_words(const SettingChange& change) {
  return change.is_overruled
             ? fmt::format("{} is {} (command line); the program requests {}", change.key, change.from, change.to)
             : fmt::format("{} is {}, as the program requests; the config has {}", change.key, change.to, change.from);
}

void set_by_program(Options& options, const std::map<std::string, std::string>& settings,
                    std::vector<SettingChange>& changes) {
  for (const auto& [key, text] : settings) {
    const auto* given = options.find(key);
    if (given != nullptr && given->text == text) continue;
    const bool is_overruled = given != nullptr && given->origin == command_line;
    if (given != nullptr && given->origin != "default")
      changes.push_back({key, "'" + given->text + "'", "'" + text + "'", is_overruled});
    if (!is_overruled) options.set(key, {text, std::string(origin_of_program)});
  }
}

std::string numbered_name(const std::string& name, int number) {
  return number < 2 ? name : fmt::format("{}-{}", name, number);
}

bool is_record_of_python(std::string_view loop_key) {
  return loop_key.starts_with("train_loop_") || loop_key.starts_with("param_space.");
}

RunSpec requested_spec(const RunSpec& base, const std::map<std::string, std::string>& settings, int number,
                       std::vector<SettingChange>& changes, const std::map<std::string, std::string>& defaults) {
  auto options = base.given;
  // A generated name differs between ranks. `base` has the name of rank 0, which all ranks use.
  options.set("run.name", {base.run.name, options.find("run.name")->origin});
  for (const auto* texts : {&settings, &defaults})
    for (const auto& [key, text] : *texts) require_open(key);
  for (const auto& [key, text] : defaults)
    if (const auto* given = options.find(key); given == nullptr || given->origin == "default")
      options.set(key, {text, "default"});
  set_by_program(options, settings, changes);
  number_name(options, number);
  auto spec = make_run_spec(options);
  spec.train.command = base.train.command;
  spec.run.is_opened_by_program = true;
  if (spec.given.find("run.name")->origin != origin_of_program) spec.run.continue_with = base.run.continue_with;
  return spec;
}

}  // namespace trainrt::config
