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

/// The type of a config value. `path` is text that names files and may contain ${NAME} for an environment variable
/// (core/path_text.hpp).
enum class OptionType { text, integer, real, boolean, bytes, path };

/// The valid numbers of a config key: an interval. An infinite bound means no bound. NaN and infinite numbers are never
/// valid.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();  ///< exclusive upper bound of the valid numbers
  /// Returns whether `value` is finite and in the interval.
  bool holds(double value) const;
  /// Returns the interval as text for a help line: ", 1 or more"; "" if it has no bounds.
  std::string in_words() const;
};

/// The declaration of a config key. The output of --help and `trainrt list`, error messages and the guide are generated
/// from the declarations.
struct OptionSpec {
  std::string key;  ///< name of the key, "section.key"; for a data format, its name inside the section [data.NAME]
  OptionType type = OptionType::text;
  std::string default_value;  ///< default value; "": no default
  std::string help;
  bool required = false;
  std::vector<std::string> choices = {};          ///< valid words; empty: not restricted to a list
  Range range = {};                               ///< valid numbers, if the type is a number
  std::string_view unit = {};                     ///< unit of the number, for example "seconds"
  std::string form = {};                          ///< description of the texts that `fits` accepts
  bool (*fits)(std::string_view text) = nullptr;  ///< returns whether a text is valid; nullptr: no such check
  std::string required_unless = {};               ///< name of another key: one of the two must be given
  std::string_view synonyms = {};                 ///< other names that users try, separated by commas, for error messages
};

/// The valid range of a time limit in seconds: from the resolution of a clock (1 ms) to about 30 years.
constexpr Range any_time = {.least = 1e-3, .most = 1e9};
/// The maximum of the valid numbers (Range::most) for a config value that is stored as int.
constexpr double max_int = std::numeric_limits<int>::max();

/// Returns a description of the valid values of a config key: "a number of seconds, 0.001 or more".
std::string valid_values(const OptionSpec& spec);

/// Returns a summary of a config key for its help: "a whole number, 1 or more; default 3". It has the valid values, the
/// default, and whether the key is required. Returns "" if the key is an optional text without a default.
std::string facts_of(const OptionSpec& spec);

/// A config value as the user gave it: the text and its source.
struct OptionValue {
  std::string text;
  std::string origin;  ///< source of the value, for messages: "train.ini:12" or "command line"
};

/// The value of OptionValue::origin for config values from the command line.
inline constexpr std::string_view command_line = "command line";

/// Config values by key ("section.key"). The typed getters require values that checked() has validated; they return 0 or
/// false for a key that is not set.
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

  /// Returns the config values of the section `name` ("loop", "data.train"), by keys without the section's name.
  Options section(std::string_view name) const;
  std::vector<std::string> keys() const;
  std::map<std::string, std::string> texts() const;

 private:
  std::map<std::string, OptionValue> values_;
};

/// Parse the text of a config value as an integer, a real number or a boolean; return nullopt if the text has another form.
/// Booleans are true/false, yes/no, on/off and 1/0.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);
std::optional<bool> parse_boolean(std::string_view text);
/// Parses a number of bytes with an optional unit: "512 MiB", "1.5GB", "4096". Units are B, KiB, MiB, GiB and TiB (powers
/// of 1024), kB, MB, GB and TB (powers of 1000). Returns nullopt for any other text.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Validates the config values of a section: returns the values `given`, with the defaults of missing keys added. `specs`
/// declares the valid keys. Throws UsageError if a key is unknown, a required key is missing or a value is invalid; the
/// message names the key, its origin and the valid values. `where` is the name of the section in messages ("[data.train]"),
/// or "".
Options checked(const Options& given, std::span<const OptionSpec> specs, std::string_view where);

}  // namespace trainrt
