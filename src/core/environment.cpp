#include "core/environment.hpp"

#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/text/parse_number.hpp"

namespace trainrt {

Environment Environment::of_process() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string::npos) values.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(values));
}

std::optional<std::string> Environment::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<int> Environment::number(const std::string& name) const {
  const auto value = text(name);
  if (!value || value->empty()) return std::nullopt;
  const auto number = parse_number<int>(*value);
  if (!number) throw UsageError("environment variable " + name + " is '" + *value + "'; it must be a whole number");
  return number;
}

}  // namespace trainrt
