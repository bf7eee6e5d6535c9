#include "config/launch_settings.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

namespace trainrt::config {

using Json = nlohmann::json;

namespace {

bool is_for_program(const std::string& key, const OptionValue& value) {
  return !key.starts_with("train.") && !key.starts_with("program.") && value.origin != "default";
}

}  // namespace

std::string launch_settings_text(const Options& given) {
  auto settings = Json::array();
  for (const auto& key : given.keys()) {
    const auto& value = *given.find(key);
    if (is_for_program(key, value)) settings.push_back({key, value.text, value.origin});
  }
  return settings.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Options launch_settings_from(const std::string& text) try {
  Options options;
  for (const auto& setting : Json::parse(text)) {
    const auto& [key, value, origin] = setting.get<std::array<std::string, 3>>();
    options.set(key, {value, origin});
  }
  return options;
} catch (const Json::exception& error) {
  throw UsageError(fmt::format("the environment variable {} was changed; it must have the value that trainrt set: {}",
                               launch_settings_variable, error.what()));
}

}  // namespace trainrt::config
