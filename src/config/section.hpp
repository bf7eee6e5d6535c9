#pragma once
#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/run_spec.hpp"
#include "core/options.hpp"
#include "core/plugin.hpp"
#include "core/text/text.hpp"

namespace trainrt::config {

/// A config key: its OptionSpec, and the function that parses a text and stores the value in a member of RunSpec. The
/// type of the member determines how the text is parsed. Error messages, `trainrt list`, `trainrt help config` and the
/// manual are generated from the keys.
struct Key {
  OptionSpec option;
  /// parses a text, which must be valid, and stores the value in the RunSpec
  std::function<void(const std::string& text, RunSpec& spec)> take;
};

/// A section of the config with declared keys. Each section is a plug-in: one file in config/sections, next to the header
/// of the struct that holds the section's values in RunSpec.
struct Section {
  std::string_view name;
  int order;  ///< position of the section in lists of all sections, ascending
  std::string_view help;
  std::vector<Key> keys;
  /// Checks conditions that concern several keys. Called when all sections have their values. Throws UsageError that names
  /// the origin of the value.
  void (*check)(const Options& options, const RunSpec& spec) = [](const Options&, const RunSpec&) {};
};

PluginTable<Section> section_table();

/// Returns all config sections, by ascending `order`.
std::vector<const Section*> sections();

/// Returns the declared keys of all config sections, by ascending `order` of the section.
std::vector<OptionSpec> declared_options();

/// Throws UsageError if a config file cannot contain [section]. Compares only the part before the first dot: "data" of
/// "data.train". The message names the most similar section. `origin`: file and line.
void require_section(const std::string& section, const std::string& origin);

/// Throws UsageError with the message "ORIGIN: KEY TEXT", where ORIGIN names the file and line, or the argument, that set
/// `key`. `options` must contain the key.
[[noreturn]] void refuse_key(const Options& options, std::string_view key, std::string_view text);

/// Returns whether `text` is a valid plain name of a file or directory, which cannot refer to another directory (see
/// plain_name_form).
bool is_plain_name(std::string_view text);
constexpr std::string_view plain_name_form =
    "one plain name: no '/', no control characters, at most 200 bytes, not starting with '.'";

/// Splits the value of a config key at its commas, and returns the names. The value "none" gives an empty list.
std::vector<std::string> names_in(const std::string& text);

/// A type of config values with its own syntax: form() returns a description of the valid texts, parse() returns nullopt
/// for an invalid text.
template <class T>
concept HasForm = requires(std::string_view text) {
  { T::form() } -> std::convertible_to<std::string>;
  { T::parse(text) } -> std::same_as<std::optional<T>>;
};

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

/// Returns `option` with the type, range or form that the C++ type T of the value requires.
template <class T>
OptionSpec completed(OptionSpec option) {
  if constexpr (std::same_as<T, bool>) {
    option.type = OptionType::boolean;
  } else if constexpr (std::integral<T>) {
    if (option.type != OptionType::bytes) option.type = OptionType::integer;
    if constexpr (sizeof(T) < sizeof(std::int64_t)) option.range.most = std::min(option.range.most, max_int);
  } else if constexpr (std::floating_point<T>) {
    option.type = OptionType::real;
  } else if constexpr (HasForm<T>) {
    option.form = T::form();
    option.fits = [](std::string_view text) { return T::parse(text).has_value(); };
  }
  return option;
}

/// Parses `text`, the value of a config key, as type T. Precondition: the text is valid for `option`. If T has a member
/// `key`, it is set to the name of the config key, so that error messages can name it.
template <class T>
T value_from(const OptionSpec& option, const std::string& text) {
  if constexpr (std::same_as<T, bool>)
    return parse_boolean(text).value();
  else if constexpr (std::integral<T>)
    return option.type == OptionType::bytes ? static_cast<T>(parse_bytes(text).value())
                                            : static_cast<T>(parse_integer(text).value());
  else if constexpr (std::floating_point<T>)
    return parse_real(text).value();
  else if constexpr (HasForm<T>) {
    auto value = T::parse(text).value();
    if constexpr (requires { value.key; }) value.key = option.key;
    return value;
  } else if constexpr (std::same_as<T, std::vector<std::string>>)
    return words_in(text);
  else
    return text;
}

/// Returns a config key. Its value is parsed as the type of `member`, and stored in `member` of the section's values.
template <class Values, class T>
Key key(T Values::*member, OptionSpec option) {
  using Value = typename Unwrapped<T>::type;
  option = completed<Value>(std::move(option));
  return {option, [option, member](const std::string& text, RunSpec& spec) {
            spec.*values_of<Values>.*member = value_from<Value>(option, text);
          }};
}

/// Returns a config key that the function `read` parses. The result is stored in `member` of its section's values.
template <class Values, class T>
Key key(T Values::*member, OptionSpec option, T (*read)(const std::string& text)) {
  return {std::move(option),
          [member, read](const std::string& text, RunSpec& spec) { spec.*values_of<Values>.*member = read(text); }};
}

/// The words that are valid for a config key, and the value of each.
template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

/// Returns a config key for which only the words in `words` are valid. The value that belongs to the user's word is stored
/// in `member` of the section's values.
template <class Values, class T>
Key key(T Values::*member, OptionSpec option, Words<typename Unwrapped<T>::type> words) {
  for (const auto& [word, value] : words) option.choices.push_back(word);
  return {std::move(option), [member, words = std::move(words)](const std::string& text, RunSpec& spec) {
            for (const auto& [word, value] : words)
              if (word == text) spec.*values_of<Values>.*member = value;
          }};
}

}  // namespace trainrt::config
