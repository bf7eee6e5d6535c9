#include "tune/trials/shown_params.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/short_number.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::tune {

namespace {

/// Returns the numbers, strings and bools of the JSON object in the file `path`; nothing if the file is missing or damaged.
Params suggested(const std::string& path) try {
  Params params;
  if (path.empty() || !io::exists(path)) return params;
  const auto suggestions = nlohmann::json::parse(io::read_file(path));
  for (const auto& [key, value] : suggestions.items())
    if (!value.is_structured()) params[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return params;
} catch (const std::exception&) {
  return {};
}

}  // namespace

bool is_without_values(const Params& params) { return params == Params{{"loop.all", "0"}}; }

std::string params_in_words(const Params& params, const std::string& suggestions) {
  std::vector<std::string> words;
  for (const auto& [key, value] : is_without_values(params) ? suggested(suggestions) : params)
    words.push_back(fmt::format("{}={}", key.starts_with("loop.") ? key.substr(5) : key, short_number(value)));
  return join(words);
}

}  // namespace trainrt::tune
