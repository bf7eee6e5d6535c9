#include "tune/record/placeholders.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/value_origin.hpp"
#include "core/text/text.hpp"

namespace trainrt::tune {

namespace {

std::string placeholder_of(const std::string& key) {
  return fmt::format("{{{}}}", key.starts_with("loop.") ? key.substr(5) : key);
}

/// Returns the texts in a command that look like placeholders. Variables of a shell, such as ${HOME}, do not.
std::vector<std::string> placeholders_in(const std::string& program) {
  static const std::regex pattern(R"((^|[^$])(\{[A-Za-z_][A-Za-z0-9_.]*\}))");
  std::vector<std::string> found;
  for (std::sregex_iterator match(program.begin(), program.end(), pattern), end; match != end; ++match)
    found.push_back((*match)[2]);
  return found;
}

}  // namespace

bool fill_placeholder(std::string& program, const std::string& key, const std::string& value) {
  const auto mark = placeholder_of(key);
  const auto quoted = shell_quoted(value);
  bool is_filled = false;
  for (auto at = program.find(mark); at != std::string::npos; at = program.find(mark, at + quoted.size())) {
    program.replace(at, mark.size(), quoted);
    is_filled = true;
  }
  return is_filled;
}

void check_placeholders(const Options& config, const std::vector<SearchSpace::Dimension>& dimensions) {
  const auto program = config.text("train.program");
  std::vector<std::string> known, missing;  // placeholders of all dimensions, and of those that the command lacks
  for (const auto& dimension : dimensions) {
    known.push_back(placeholder_of(dimension.key));
    if (program.find(known.back()) == std::string::npos) missing.push_back(known.back());
  }
  for (const auto& mark : placeholders_in(program)) {
    const auto similar = std::ranges::find(known, mark) == known.end() ? nearest(mark, missing) : "";
    if (!similar.empty())
      throw UsageError(fmt::format(
          "{}train.program contains {}, but [tune.space] has no such key; did you mean '{}'? The program does not get the "
          "value of this key",
          config::origin_prefix(config, "train.program"), mark, similar));
  }
}

}  // namespace trainrt::tune
