#include "core/options.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/parse_number.hpp"
#include "core/text/text.hpp"

namespace trainrt {

const OptionValue* Options::find(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  return found == values_.end() ? nullptr : &found->second;
}

std::string Options::text(std::string_view key) const {
  const auto* value = find(key);
  return value ? value->text : std::string();
}

std::int64_t Options::integer(std::string_view key) const { return parse_integer(text(key)).value_or(0); }
double Options::real(std::string_view key) const { return parse_real(text(key)).value_or(0.0); }
bool Options::boolean(std::string_view key) const { return parse_boolean(text(key)).value_or(false); }
std::uint64_t Options::bytes(std::string_view key) const { return parse_bytes(text(key)).value_or(0); }

Options Options::section(std::string_view name) const {
  const auto prefix = std::string(name) + ".";
  Options part;
  for (const auto& [key, value] : values_)
    if (key.starts_with(prefix)) part.set(key.substr(prefix.size()), value);
  return part;
}

std::vector<std::string> Options::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

std::map<std::string, std::string> Options::texts() const {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : values_) texts.emplace(key, value.text);
  return texts;
}

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_number<std::int64_t>(text); }
std::optional<double> parse_real(std::string_view text) { return parse_number<double>(text); }

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr Unit units[] = {{"", 1},         {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                   {"TiB", 0x1p40}, {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_real(text.substr(0, digits));
  const auto word = trim(text.substr(digits));
  for (const auto& unit : units)
    if (number && word == unit.name && *number * unit.bytes < 0x1p62)
      return static_cast<std::uint64_t>(*number * unit.bytes);
  return std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return std::nullopt;
}

bool Range::holds(double value) const { return std::isfinite(value) && value >= least && value <= most && value < below; }

std::string Range::in_words() const {
  const auto shown = [](double limit) {
    return limit == std::trunc(limit) && std::abs(limit) < 0x1p63 ? fmt::format("{:.0f}", limit) : fmt::format("{}", limit);
  };
  if (std::isfinite(below) && !std::isfinite(least)) return fmt::format(" below {}", shown(below));
  if (std::isfinite(below)) return fmt::format(", from {} to less than {}", shown(least), shown(below));
  if (std::isfinite(least) && std::isfinite(most)) return fmt::format(", from {} to {}", shown(least), shown(most));
  if (std::isfinite(least)) return fmt::format(", {} or more", shown(least));
  if (std::isfinite(most)) return fmt::format(", {} or less", shown(most));
  return "";
}

std::string valid_values(const OptionSpec& spec) {
  if (!spec.form.empty()) return spec.form;
  if (!spec.choices.empty()) return "one of: " + join(spec.choices);
  const auto unit = spec.unit.empty() ? std::string() : " of " + std::string(spec.unit);
  switch (spec.type) {
    case OptionType::integer:
      return "a whole number" + unit + spec.range.in_words();
    case OptionType::real:
      return "a number" + unit + spec.range.in_words();
    case OptionType::boolean:
      return "true or false";
    case OptionType::bytes:
      return "a number of bytes: 512 MiB, 1 GiB";
    case OptionType::text:
      return "a text that is not empty";
    case OptionType::path:
      return "a path";
  }
  return "";
}

std::string facts_of(const OptionSpec& spec) {
  const bool any_text = spec.type == OptionType::text && spec.choices.empty() && spec.form.empty();
  std::vector<std::string> facts;
  if (!any_text) facts.push_back(valid_values(spec));
  if (spec.required) facts.emplace_back("required");
  if (!spec.required_unless.empty()) facts.push_back("required unless " + spec.required_unless + " is given");
  if (!spec.default_value.empty()) facts.push_back("default " + spec.default_value);
  return join(facts, "; ");
}

namespace {

bool is_in_range(const OptionSpec& spec, std::optional<double> value) { return value && spec.range.holds(*value); }

bool is_valid(const OptionSpec& spec, const std::string& text) {
  if (spec.fits != nullptr) return spec.fits(text);
  if (!spec.choices.empty()) return std::ranges::find(spec.choices, text) != spec.choices.end();
  switch (spec.type) {
    case OptionType::integer:
      return is_in_range(spec, parse_integer(text));
    case OptionType::real:
      return is_in_range(spec, parse_real(text));
    case OptionType::boolean:
      return parse_boolean(text).has_value();
    case OptionType::bytes:
      return parse_bytes(text).has_value();
    case OptionType::text:
    case OptionType::path:
      return !text.empty();
  }
  return false;
}

/// Returns the suggestion " (did you mean 'x'?)" for the unknown key `key`. If a key lists `key` as a synonym
/// (OptionSpec::synonyms), this key is x. Otherwise, x is the key with the nearest name.
std::string hint_for(const std::string& key, std::span<const OptionSpec> specs, const std::vector<std::string>& known) {
  const auto found = std::ranges::find_if(
      specs, [&](const OptionSpec& spec) { return std::ranges::count(words_in(spec.synonyms), key) > 0; });
  return found == specs.end() ? did_you_mean(key, known) : fmt::format(" (did you mean '{}'?)", found->key);
}

}  // namespace

Options checked(const Options& given, std::span<const OptionSpec> specs, std::string_view where) {
  std::vector<std::string> known;
  for (const auto& spec : specs) known.push_back(spec.key);
  constexpr std::size_t max_listed = 20;
  const auto at = where.empty() ? std::string() : " in " + std::string(where);

  for (const auto& key : given.keys())
    if (std::ranges::find(known, key) == known.end()) {
      throw UsageError(given.find(key)->origin + ": unknown key '" + key + "'" + at + hint_for(key, specs, known) +
                       (known.size() <= max_listed ? "; valid keys: " + join(known) : "; `trainrt list` shows all keys"));
    }
  Options out;
  for (const auto& spec : specs) {
    const auto& key = spec.key;
    if (const auto* value = given.find(key)) {
      if (!is_valid(spec, value->text))
        throw UsageError(value->origin + ": " + key + at + " is '" + value->text + "'; it must be " + valid_values(spec));
      out.set(key, *value);
    } else if (spec.required || (!spec.required_unless.empty() && given.find(spec.required_unless) == nullptr)) {
      throw UsageError("the key " + key + at + " is missing: " + spec.help);
    } else if (!spec.default_value.empty()) {
      out.set(key, {spec.default_value, "default"});
    }
  }
  return out;
}

}  // namespace trainrt
