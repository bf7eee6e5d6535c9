#include "program/progress/progress_pattern.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"

namespace trainrt::program {

struct ProgressPattern::Compiled {
  std::regex regex;
  std::vector<std::size_t> groups;  ///< number of each named group in the expression
};

namespace {

constexpr std::string_view example = R"(for example: step (?<step>\d+) loss (?<loss>\S+))";
constexpr std::array<std::string_view, 3> positions = {"step", "iteration", "epoch"};  // by precedence

/// Returns the index after the bracket expression, such as [a-z], that begins at `begin`.
std::size_t end_of_class(std::string_view text, std::size_t begin) {
  auto at = begin + 1;
  if (at < text.size() && text[at] == '^') ++at;
  while (at < text.size() && text[at] != ']') {
    const bool is_named = text.substr(at, 2) == "[:";
    const auto end = is_named ? text.find(":]", at) : std::string_view::npos;
    at = end != std::string_view::npos ? end + 2 : at + (text[at] == '\\' ? 2 : 1);
  }
  return std::min(at + 1, text.size());
}

/// Returns the index after the bracket expression, escape sequence or character at `begin`.
std::size_t end_of_piece(std::string_view text, std::size_t begin) {
  if (text[begin] == '[') return end_of_class(text, begin);
  return std::min(begin + (text[begin] == '\\' ? 2 : 1), text.size());
}

/// Returns the length of "(?<", "(?P<" or "(?'" if a named group begins at `begin`, and 0 otherwise.
std::size_t length_before_name(std::string_view text, std::size_t begin) {
  for (const std::string_view opening : {"(?<", "(?P<", "(?'"}) {
    if (text.substr(begin, opening.size()) != opening) continue;
    const auto next = begin + opening.size();
    return next < text.size() && text[next] != '=' && text[next] != '!' ? opening.size() : 0;
  }
  return 0;
}

/// A regular expression without the names of its groups, since std::regex does not support named groups.
struct UnnamedExpression {
  std::string text;
  std::vector<std::string> names;
  std::vector<std::size_t> groups;  ///< for each name, the number of its group
};

UnnamedExpression without_names(std::string_view text) {
  UnnamedExpression found;
  std::size_t group = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto before = length_before_name(text, at); before > 0) {
      const auto end = std::min(text.find_first_of(">'", at + before), text.size());
      found.names.emplace_back(text.substr(at + before, end - at - before));
      found.groups.push_back(++group);
      found.text += '(';
      at = std::min(end + 1, text.size());
      continue;
    }
    if (text[at] == '(' && text.substr(at, 2) != "(?") ++group;
    const auto end = end_of_piece(text, at);
    found.text += text.substr(at, end - at);
    at = end;
  }
  return found;
}

/// Compiles a pattern for the matcher of libstdc++ that takes polynomial time in the length of the line and constant
/// stack space.
std::regex compiled(const std::string& text) {
  return std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
}

void require_valid(const std::vector<std::string>& names) {
  if (names.empty()) throw UsageError(fmt::format("the expression has no named group; {}", example));
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (name->empty() ||
        name->find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
      throw UsageError(fmt::format("'{}' is not a valid group name; use letters, digits and _", *name));
    if (name->starts_with('_'))
      throw UsageError(fmt::format("the group '{}' cannot be a metric; names that begin with _ are reserved", *name));
    if (std::find(names.begin(), name, *name) != name)
      throw UsageError(fmt::format("two groups are named '{}'; names must be unique", *name));
  }
}

}  // namespace

ProgressPattern::ProgressPattern(const std::string& text) try {
  auto expression = without_names(text);
  compiled_ = std::make_shared<const Compiled>(Compiled{compiled(expression.text), std::move(expression.groups)});
  names_ = std::move(expression.names);
  require_valid(names_);
  const auto position =
      std::ranges::find_if(positions, [&](auto name) { return std::ranges::find(names_, name) != names_.end(); });
  if (position == positions.end())
    throw UsageError(
        fmt::format("no group is named step, iteration or epoch; one group must have one of these names, {}", example));
  position_ = *position;
} catch (const std::regex_error& error) {
  throw UsageError(fmt::format("'{}' is not a valid regular expression: {}", text, error.what()));
}

double ProgressPattern::number_of(const std::string& name, const std::string& text) const {
  const auto number = parse_real(std::string_view(text).substr(text.starts_with('+') ? 1 : 0));
  if (name != position_) {
    if (!number) throw UsageError(fmt::format("the group {} matched '{}', which is not a number", name, text));
    return *number;
  }
  constexpr double limit = 9007199254740992.0;  // 2^53; a double cannot represent all larger integers
  const bool fits = number && *number >= 0 && *number < limit && (name == "epoch" || std::floor(*number) == *number);
  if (!fits)
    throw UsageError(fmt::format("the group {} matched '{}'; it must be a non-negative {}", name, text,
                                 name == "epoch" ? "number" : "integer"));
  return *number;
}

std::optional<ProgressNumbers> ProgressPattern::find(std::string_view line) const {
  std::cmatch match;
  try {
    if (!std::regex_search(line.data(), line.data() + line.size(), match, compiled_->regex)) return std::nullopt;
  } catch (const std::regex_error& error) {
    throw Error(error.what());
  }
  ProgressNumbers found;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (const auto& group = match[compiled_->groups[i]]; group.matched)
      found.emplace_back(names_[i], number_of(names_[i], group.str()));
  const bool has_position = std::ranges::any_of(found, [this](const auto& each) { return each.first == position_; });
  return has_position ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace trainrt::program
