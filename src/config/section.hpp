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

/// A config key, declared once: what OptionSpec says of it, and the member of the RunSpec that gets its value. The member's
/// type says how the text is read. Errors, `trainrt list`, `trainrt help config` and the manual come from it.
struct Key {
  OptionSpec option;
  std::function<void(const std::string& text, RunSpec& spec)> take;  ///< of a text that is valid
};

/// A section of the config whose keys are declared. A plug-in: one file in config/sections, beside the struct with its
/// values, which RunSpec has.
struct Section {
  std::string_view name;
  int order;  ///< in which sections are shown
  std::string_view help;
  std::vector<Key> keys;
  /// What keys say together: throws UsageError that names the place. All sections have their values.
  void (*check)(const Options& options, const RunSpec& spec) = [](const Options&, const RunSpec&) {};
};

PluginTable<Section> section_table();

/// In the order in which they are shown.
std::vector<const Section*> sections();

/// The keys of all of them.
std::vector<OptionSpec> declared_options();

/// Whether a name is one plain component of a path: it does not leave its directory.
bool is_plain_name(std::string_view text);
constexpr std::string_view plain_name_form =
    "one plain name: no '/', no control characters, at most 200 bytes, not starting with '.'";

/// A value that is more than a number or a word: `form()` says in words what is valid, parse() gives nullopt for the rest.
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

/// What the type of a member says of its key.
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

/// A value that messages are made of knows what the config calls it.
template <class T>
T of_key(T value, const std::string& key) {
  if constexpr (requires { value.key; }) value.key = key;
  return value;
}

/// The value of a text that is valid.
template <class T>
T value_from(const OptionSpec& option, const std::string& text) {
  if constexpr (std::same_as<T, bool>)
    return parse_boolean(text).value();
  else if constexpr (std::integral<T>)
    return option.type == OptionType::bytes ? static_cast<T>(parse_bytes(text).value())
                                            : static_cast<T>(parse_integer(text).value());
  else if constexpr (std::floating_point<T>)
    return parse_real(text).value();
  else if constexpr (HasForm<T>)
    return of_key(T::parse(text).value(), option.key);
  else if constexpr (std::same_as<T, std::vector<std::string>>)
    return words_in(text);
  else
    return text;
}

template <class Values, class T>
Key key(T Values::*member, OptionSpec option) {
  using Value = typename Unwrapped<T>::type;
  option = completed<Value>(std::move(option));
  return {option, [option, member](const std::string& text, RunSpec& spec) {
            spec.*values_of<Values>.*member = value_from<Value>(option, text);
          }};
}

/// One whose text is made into a value by `read`.
template <class Values, class T>
Key key(T Values::*member, OptionSpec option, T (*read)(const std::string& text)) {
  return {std::move(option),
          [member, read](const std::string& text, RunSpec& spec) { spec.*values_of<Values>.*member = read(text); }};
}

/// One that has a value for each of a few words.
template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

template <class Values, class T>
Key key(T Values::*member, OptionSpec option, Words<typename Unwrapped<T>::type> words) {
  for (const auto& [word, value] : words) option.choices.push_back(word);
  return {std::move(option), [member, words = std::move(words)](const std::string& text, RunSpec& spec) {
            for (const auto& [word, value] : words)
              if (word == text) spec.*values_of<Values>.*member = value;
          }};
}

}  // namespace trainrt::config
