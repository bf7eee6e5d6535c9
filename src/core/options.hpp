#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

/// The type of a config value. `path`: text that names files and may have ${NAME} for an environment variable
/// (core/path_text.hpp).
enum class OptionType { text, integer, real, boolean, bytes, path };

/// The valid numbers of a key. An infinite limit means no limit; NaN and infinite values are never valid.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();  ///< upper limit that is itself invalid
  /// Returns whether `value` is in the range.
  bool holds(double value) const;
  std::string in_words() const;  ///< ", 1 or more"; "" without a limit
};

/// The declaration of a config key. --help, `trainrt list`, error messages and the guide are made from it.
struct OptionSpec {
  std::string key;  ///< "section.key"; the key inside [data.NAME] for a data format
  OptionType type = OptionType::text;
  std::string default_value;  ///< "" = no default
  std::string help;
  bool required = false;
  std::vector<std::string> choices = {};          ///< the valid words; empty: not restricted to a list
  Range range = {};                               ///< valid numbers
  std::string_view unit = {};                     ///< unit of a number: "seconds"
  std::string form = {};                          ///< description of valid texts that `fits` checks
  bool (*fits)(std::string_view text) = nullptr;  ///< returns whether a text is valid
  std::string required_unless = {};               ///< another key: one of the two must be given
};

/// The valid range of a time limit in seconds: a clock can measure it; at most 30 years.
constexpr Range any_time = {.least = 1e-3, .most = 1e9};
/// The maximum of a number that is stored as int.
constexpr double max_int = std::numeric_limits<int>::max();

/// Returns a description of the valid values: "a number of seconds, 0.001 or more".
std::string valid_values(const OptionSpec& spec);

/// Returns valid values, default and requirement of a key for its help: "a whole number, 1 or more; default 3"; "" if any
/// text is valid.
std::string facts_of(const OptionSpec& spec);

/// A value as it was given.
struct OptionValue {
  std::string text;
  std::string origin;  ///< for messages: "train.ini:12" or "command line"
};

/// The origin of a value on the command line.
inline constexpr std::string_view command_line = "command line";

/// Values by key ("section.key"). The typed getters expect values that checked() has validated.
class Options {
 public:
  void set(const std::string& key, OptionValue value) { values_[key] = std::move(value); }
  bool has(std::string_view key) const { return values_.contains(std::string(key)); }
  const OptionValue* find(std::string_view key) const;

  std::string text(std::string_view key) const;  ///< "" if the key is not set
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;

  /// Returns the values of a section ("loop", "data.train"), by keys without the section's name.
  Options section(std::string_view name) const;
  std::vector<std::string> keys() const;
  std::map<std::string, std::string> texts() const;

 private:
  std::map<std::string, OptionValue> values_;
};

/// Parse a config value; return nullopt if the text is not of that type. Booleans: true/false, yes/no, on/off, 1/0.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);
std::optional<bool> parse_boolean(std::string_view text);
/// Parses a number of bytes: "512 MiB", "1.5GB", "4096". Units: B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB (of
/// 1000).
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Returns the values with the defaults added. Throws UsageError that names the key, its origin, the error and the valid
/// values if a key is unknown or missing, or a value invalid. `where` is the name of the section in messages
/// ("[data.train]"), or "".
Options checked(const Options& given, std::span<const OptionSpec> specs, std::string_view where);

}  // namespace trainrt
