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
  std::vector<std::size_t> groups;  ///< the numbers of those that have names
};

namespace {

constexpr std::string_view example = R"(for example: step (?<step>\d+) loss (?<loss>\S+))";
constexpr std::array<std::string_view, 3> positions = {"step", "iteration", "epoch"};  // the first that is there counts

/// Where what begins with '[' at `begin` ends: behind its ']'.
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

/// Where what is no group's beginning and stands for itself at `begin` ends.
std::size_t end_of_piece(std::string_view text, std::size_t begin) {
  if (text[begin] == '[') return end_of_class(text, begin);
  return std::min(begin + (text[begin] == '\\' ? 2 : 1), text.size());
}

/// The length of "(?<", "(?P<" or "(?'" before a name that stands at `begin`; 0 if no named group begins there.
std::size_t length_before_name(std::string_view text, std::size_t begin) {
  for (const std::string_view opening : {"(?<", "(?P<", "(?'"}) {
    if (text.substr(begin, opening.size()) != opening) continue;
    const auto next = begin + opening.size();
    return next < text.size() && text[next] != '=' && text[next] != '!' ? opening.size() : 0;
  }
  return 0;
}

/// The expression as std::regex has it, which knows no names.
struct Nameless {
  std::string text;
  std::vector<std::string> names;
  std::vector<std::size_t> groups;  ///< their numbers
};

Nameless nameless(std::string_view text) {
  Nameless found;
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

/// Of the two ways in which the library matches, the one whose time grows as a power of the line's length, not beyond any
/// bound, and whose stack does not grow with it.
std::regex compiled(const std::string& text) {
  return std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
}

void require_valid(const std::vector<std::string>& names) {
  if (names.empty()) throw UsageError(fmt::format("it has no named group; {}", example));
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (name->empty() ||
        name->find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
      throw UsageError(fmt::format("'{}' is no name of a group: letters, digits and _", *name));
    if (name->starts_with('_'))
      throw UsageError(
          fmt::format("the group '{}' cannot be a metric: names that begin with _ are the runtime's own", *name));
    if (std::find(names.begin(), name, *name) != name)
      throw UsageError(fmt::format("two groups are named '{}'; each name may be there once", *name));
  }
}

}  // namespace

ProgressPattern::ProgressPattern(const std::string& text) try {
  auto expression = nameless(text);
  compiled_ = std::make_shared<const Compiled>(Compiled{compiled(expression.text), std::move(expression.groups)});
  names_ = std::move(expression.names);
  require_valid(names_);
  const auto position =
      std::ranges::find_if(positions, [&](auto name) { return std::ranges::find(names_, name) != names_.end(); });
  if (position == positions.end())
    throw UsageError(
        fmt::format("none of its groups is named step, iteration or epoch, to say how far the program is; {}", example));
  position_ = *position;
} catch (const std::regex_error& error) {
  throw UsageError(fmt::format("'{}' is no regular expression: {}", text, error.what()));
}

double ProgressPattern::number_of(const std::string& name, const std::string& text) const {
  const auto number = parse_real(std::string_view(text).substr(text.starts_with('+') ? 1 : 0));
  if (name != position_) {
    if (!number) throw UsageError(fmt::format("the group {} matched '{}', which is no number", name, text));
    return *number;
  }
  constexpr double most = 9007199254740992.0;  // 2^53: more steps than any run makes
  const bool fits = number && *number >= 0 && *number < most && (name == "epoch" || std::floor(*number) == *number);
  if (!fits)
    throw UsageError(fmt::format("the group {} matched '{}', which is no {}number from 0 on", name, text,
                                 name == "epoch" ? "" : "whole "));
  return *number;
}

std::optional<SeenNumbers> ProgressPattern::find(std::string_view line) const {
  std::cmatch match;
  try {
    if (!std::regex_search(line.data(), line.data() + line.size(), match, compiled_->regex)) return std::nullopt;
  } catch (const std::regex_error& error) {
    throw Error(error.what());
  }
  SeenNumbers found;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (const auto& group = match[compiled_->groups[i]]; group.matched)
      found.emplace_back(names_[i], number_of(names_[i], group.str()));
  const bool has_position = std::ranges::any_of(found, [this](const auto& each) { return each.first == position_; });
  return has_position ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace trainrt::program
