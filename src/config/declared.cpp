#include "config/declared.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/path_text.hpp"
#include "core/text/text.hpp"

namespace trainrt::config {

namespace {

OptionType type_of(LoopType type) {
  switch (type) {
    case LoopType::integer:
      return OptionType::integer;
    case LoopType::real:
      return OptionType::real;
    case LoopType::boolean:
      return OptionType::boolean;
    case LoopType::path:
      return OptionType::path;
    case LoopType::text:
      break;
  }
  return OptionType::text;
}

OptionSpec option_of(const LoopKey& key) {
  return {.key = std::string(key.key),
          .type = type_of(key.type),
          .default_value = std::string(key.default_value),
          .help = std::string(key.help),
          .required = key.required,
          .choices = words_in(key.choices),
          .range = {key.least, key.most, key.below}};
}

Options declared_part(const Options& given, const std::vector<OptionSpec>& specs) {
  Options known;
  for (const auto& spec : specs)
    if (const auto* value = given.find(spec.key)) known.set(spec.key, *value);
  return known;
}

void expand_paths(const std::vector<OptionSpec>& specs, Options& loop) {
  for (const auto& spec : specs)
    if (const auto* value = loop.find(spec.key); value != nullptr && spec.type == OptionType::path)
      loop.set(spec.key, expanded_path("[loop] " + spec.key, *value, Environment::of_process()));
}

void require_datasets(const std::vector<std::string>& names, const std::string& function, const RunSpec& spec) {
  std::vector<std::string> existing;
  for (const auto& [name, options] : spec.data) existing.push_back(name);
  for (const auto& name : names)
    if (!spec.data.contains(name))
      throw UsageError(fmt::format("the config has no [data.{}], which the train function {} requires{}{}", name, function,
                                   did_you_mean(name, existing), existing.empty() ? "" : "; it has: " + join(existing)));
}

}  // namespace

Declared declared_by(const TrainFunction& function) {
  Declared declared{{}, words_in(function.datasets), function.takes_other_keys};
  for (const auto& key : function.loop) declared.loop.push_back(option_of(key));
  return declared;
}

void take_declared(const Declared& declared, const std::string& function, RunSpec& spec) {
  if (!declared.loop.empty()) {
    const auto& given = declared.takes_other_keys ? declared_part(spec.loop, declared.loop) : spec.loop;
    const auto complete = checked(given, declared.loop, "[loop] of " + function);
    for (const auto& key : complete.keys())
      if (!spec.loop.has(key)) spec.loop_defaults.set(key, *complete.find(key));
    expand_paths(declared.loop, spec.loop);
  }
  require_datasets(declared.datasets, function, spec);
}

void warn_of_misspelled_datasets(const Declared& declared, const std::string& function, const RunSpec& spec) {
  for (const auto& [name, options] : spec.data) {
    const auto near = nearest(name, declared.datasets);
    if (near.empty() || name.starts_with(near)) continue;
    if (std::ranges::find(declared.datasets, name) != declared.datasets.end()) continue;
    log::run_warning(fmt::format("the train function {} does not require the dataset '{}'; did you mean [data.{}]?",
                                 function, name, near));
  }
}

}  // namespace trainrt::config
