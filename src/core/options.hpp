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

/// `path`: a text that names files, in which ${NAME} stands for an environment variable (core/path_text.hpp).
enum class OptionType { text, integer, real, boolean, bytes, path };

/// Which numbers are valid. Infinity as a limit means none; NaN and infinite values are never valid.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();  ///< a limit that is itself not valid
  bool holds(double value) const;
  std::string in_words() const;  ///< ", 1 or more"; "" if there is no limit
};

/// A config key, declared once, as plain data; --help, `trainrt list`, errors and the guide come from it.
struct OptionSpec {
  std::string key;  ///< "section.key"; for a data format the key inside [data.NAME]
  OptionType type = OptionType::text;
  std::string default_value;  ///< "" = no default
  std::string help;
  bool required = false;
  std::vector<std::string> choices = {};          ///< if only these words are valid
  Range range = {};                               ///< of a number
  std::string_view unit = {};                     ///< of a number: "seconds"
  std::string form = {};                          ///< in words, if what is valid is more than a number or a word
  bool (*fits)(std::string_view text) = nullptr;  ///< whether a text has that form
  std::string required_unless = {};               ///< the key without which this one is required
};

/// A number of seconds that a clock can measure, up to 30 years.
constexpr Range any_time = {.least = 1e-3, .most = 1e9};
/// What fits into an int.
constexpr double largest_int = std::numeric_limits<int>::max();

/// In words: "a whole number, 1 or more".
std::string what_is_valid(const OptionSpec& spec);

/// What is to be known of a key beside its help: "a whole number, 1 or more; default 3"; "" for any text.
std::string facts_of(const OptionSpec& spec);

/// Where a value was written, for messages: "train.ini:12" or "command line".
struct OptionValue {
  std::string text;
  std::string origin;
};

/// The origin of what stands on the command line.
inline constexpr std::string_view command_line = "command line";

/// Values by key ("section.key"), already checked against the specs.
class Options {
 public:
  void set(const std::string& key, OptionValue value) { values_[key] = std::move(value); }
  bool has(std::string_view key) const { return values_.contains(std::string(key)); }
  const OptionValue* find(std::string_view key) const;

  std::string text(std::string_view key) const;  ///< "" if it is not set
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;

  /// All keys of a section ("loop", "data.train"), without the section's name.
  Options section(std::string_view name) const;
  std::vector<std::string> keys() const;
  std::map<std::string, std::string> texts() const;

 private:
  std::map<std::string, OptionValue> values_;
};

/// Typed readings of a config value; nullopt if the text is not of that type. Booleans: true/false, yes/no, on/off, 1/0.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);
std::optional<bool> parse_boolean(std::string_view text);
/// "512 MiB", "1.5GB", "4096": bytes. Units: B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB (of 1000).
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Checks the values against the specs and fills in the defaults. Throws UsageError that names the key, where it stands,
/// what is wrong and what is valid. `if` names the section for messages about keys ("[data.train]").
Options checked(const Options& given, std::span<const OptionSpec> specs, std::string_view where);

}  // namespace trainrt
