#include "core/path_text.hpp"

#include <cctype>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt {

namespace {

bool begins_name(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }
bool continues_name(char letter) { return begins_name(letter) || std::isdigit(static_cast<unsigned char>(letter)) != 0; }

/// Characters that may precede a path inside a config value: in a list of sources, in @FILE, and in the arguments of a
/// transform.
constexpr std::string_view before_path = ",@: \t";

/// Returns the longest name of an environment variable at the beginning of `text`; "" if `text` begins with no such name.
std::string_view name_at(std::string_view text) {
  if (text.empty() || !begins_name(text.front())) return {};
  std::size_t end = 1;
  while (end < text.size() && continues_name(text[end])) ++end;
  return text.substr(0, end);
}

/// Expands the environment variables in one config value; see expanded_path().
class Expansion {
 public:
  Expansion(const std::string& key, const OptionValue& value, const Environment& environment)
      : key_(key), value_(value), environment_(environment), rest_(value.text) {}

  std::string text() {
    refuse_home();
    while (!rest_.empty()) take_next();
    return expanded_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("{}: {} is '{}': {}", value_.origin, key_, value_.text, why));
  }

  /// Returns the config value with the `length` bytes at offset `at` replaced by `right`, for error messages.
  std::string corrected(std::size_t at, std::size_t length, const std::string& right) const {
    auto text = value_.text;
    return text.replace(at, length, right);
  }

  void refuse_home() const {
    const std::string_view text = value_.text;
    for (auto at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1))
      if (at == 0 || (before_path.find(text[at - 1]) != std::string_view::npos && text.substr(at).starts_with("~/")))
        refuse_home_at(at);
  }

  [[noreturn]] void refuse_home_at(std::size_t at) const {
    if (at + 1 == value_.text.size() || value_.text[at + 1] == '/')
      refuse(fmt::format("~ is not expanded in config values. Write '{}'", corrected(at, 1, "${HOME}")));
    refuse("~ is not expanded in config values. Write the path of that home folder out");
  }

  void take_next() {
    const auto dollar = rest_.find('$');
    expanded_ += rest_.substr(0, dollar);
    if (dollar == std::string_view::npos) {
      rest_ = {};
      return;
    }
    rest_.remove_prefix(dollar);
    if (rest_.starts_with("${")) return take_variable();
    if (const auto name = name_at(rest_.substr(1)); !name.empty())
      refuse(fmt::format("an environment variable must be in braces. Write '{}'",
                         corrected(value_.text.size() - rest_.size(), name.size() + 1, fmt::format("${{{}}}", name))));
    expanded_ += '$';
    rest_.remove_prefix(rest_.starts_with("$$") ? 2 : 1);
  }

  void take_variable() {
    const auto name = name_at(rest_.substr(2));
    if (name.empty() || !rest_.substr(2 + name.size()).starts_with('}'))
      refuse("${ must be followed by the name of an environment variable and }, as in ${SCRATCH}/runs");
    const auto text = environment_.text(std::string(name));
    if (!text || text->empty())
      refuse(fmt::format("the environment variable {} is {}. Set it, or write the path out", name,
                         text ? "empty" : "not set"));
    if (!is_utf8(*text)) refuse(fmt::format("the environment variable {} is not UTF-8 text", name));
    expanded_ += *text;
    rest_.remove_prefix(name.size() + 3);
  }

  const std::string& key_;
  const OptionValue& value_;
  const Environment& environment_;
  std::string_view rest_;
  std::string expanded_;
};

}  // namespace

OptionValue expanded_path(const std::string& key, const OptionValue& value, const Environment& environment) {
  return {Expansion(key, value, environment).text(), value.origin};
}

std::string written_path(const std::string& path) {
  std::string text;
  for (const char letter : path) text += letter == '$' ? "$$" : std::string(1, letter);
  return text;
}

}  // namespace trainrt
