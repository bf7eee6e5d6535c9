#include "cli/config/config_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/program_settings.hpp"
#include "config/renamed_keys.hpp"
#include "config/section.hpp"
#include "core/environment.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

bool starts_comment(const std::string& line, std::size_t at) {
  return (line[at] == '#' || line[at] == ';') && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t');
}

/// Returns the line without its comment. Comment signs between double quotes start no comment.
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') quoted = !quoted;
    if (!quoted && starts_comment(line, at)) return line.substr(0, at);
  }
  return line;
}

bool leaves_quote_open(const std::string& line) { return std::count(line.begin(), line.end(), '"') % 2 != 0; }

/// Removes the byte-order mark that some editors write at the start of a UTF-8 file.
void drop_byte_order_mark(std::string& line) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (line.starts_with(mark)) line.erase(0, mark.size());
}

/// Returns the error message for a config that cannot be opened. If the folder contains a config with a similar name,
/// the message suggests it.
std::string unreadable(const std::string& path, int error_number) {
  namespace fs = std::filesystem;
  const auto folder = fs::path(path).parent_path();
  std::vector<std::string> configs;
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".ini") configs.push_back((folder / at->path().filename()).string());
  const auto place = path.starts_with('/') ? "" : fmt::format(" in {}", fs::current_path(error).string());
  return fmt::format("cannot read the config '{}'{}: {}{}", path, place, std::strerror(error_number),
                     did_you_mean(path, configs));
}

/// Returns whether the double quote at `at` closes a quotation: it is the last character of `value`, or a blank, a bracket,
/// an operator or a punctuation mark follows it.
bool closes_quotation(const std::string& value, std::size_t at) {
  constexpr std::string_view after_quotation = " \t,;:)]}=!<>&|";
  return at + 1 == value.size() || after_quotation.find(value[at + 1]) != std::string_view::npos;
}

/// Returns the value without the double quotes around it. Double quotes are not removed if they do not form a pair, as
/// in "a" == x or x == "b".
std::string unquoted(const std::string& value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return value;
  const auto second = value.find('"', 1);
  if (second + 1 < value.size() && closes_quotation(value, second)) return value;
  return value.substr(1, value.size() - 2);
}

/// Returns whether a file with the line "key = `written`" sets the key to `value`.
bool reads_as(const std::string& written, const std::string& value) {
  const auto line = without_comment("key = " + written);
  return !leaves_quote_open(line) && written.find('\n') == std::string::npos && unquoted(trim(line.substr(5))) == value;
}

std::string written_value(const std::string& key, const std::string& value) {
  for (const auto& written : {value, "\"" + value + "\""})
    if (reads_as(written, value)) return written;
  throw UsageError(fmt::format(
      "{} is '{}', which a config file cannot contain: remove double quotes, '#', ';' and line breaks from the value", key,
      excerpt(value)));
}

}  // namespace

std::string config_file_text(const Options& options) {
  std::map<std::string, std::string> sections;
  for (const auto& [key, value] : options.texts()) {
    const auto dot = key.rfind('.');
    sections[key.substr(0, dot)] += fmt::format("{} = {}\n", key.substr(dot + 1), written_value(key, value));
  }
  std::string text;
  for (const auto& [name, lines] : sections) text += fmt::format("[{}]\n{}", name, lines);
  return text;
}

Options read_config_file_with_old_names(const std::string& path) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path) && !std::filesystem::is_fifo(path))
    throw UsageError(fmt::format("the config '{}' is not a file, but a directory or a device", path));
  std::ifstream file(path);
  if (!file) throw UsageError(unreadable(path, errno));
  Options options;
  std::string section;
  std::string raw;
  const auto tuner = Environment::of_process().text(config::variable_of_tuner);  // set if a Tuner has written the file
  constexpr std::size_t max_line_bytes = 65536;
  for (int number = 1; std::getline(file, raw); ++number) {
    if (number == 1) drop_byte_order_mark(raw);
    const auto line = trim(without_comment(raw));
    const auto origin = tuner.value_or(fmt::format("{}:{}", path, number));
    if (!is_utf8(raw)) throw UsageError(origin + ": this line is not UTF-8 text");
    if (raw.find('\0') != std::string::npos)
      throw UsageError(origin + ": this line contains a NUL byte: is the file a config, in UTF-8?");
    if (raw.size() > max_line_bytes) throw UsageError(origin + ": this line is longer than 64 KiB: is the file a config?");
    if (line.empty()) continue;
    if (leaves_quote_open(line))
      throw UsageError(fmt::format("{}: a double quote in '{}' is not closed", origin, excerpt(line)));
    if (line.front() == '[') {
      if (line.back() != ']' || trim(line.substr(1, line.size() - 2)).empty())
        throw UsageError(fmt::format("{}: '{}' does not have the form [section]", origin, line));
      section = trim(line.substr(1, line.size() - 2));
      config::require_section(section, origin);
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string::npos || trim(line.substr(0, equals)).empty())
      throw UsageError(fmt::format("{}: '{}' does not have the form key = value", origin, line));
    if (section.empty())
      throw UsageError(fmt::format("{}: '{}' precedes all sections: put this line after a line [section]", origin, line));
    const auto key = section + "." + trim(line.substr(0, equals));
    if (const auto* earlier = options.find(key))
      throw UsageError(fmt::format("{}: the key {} is set twice; the first line is {}", origin, key, earlier->origin));
    options.set(key, {unquoted(trim(line.substr(equals + 1))), origin});
  }
  return options;
}

namespace {

/// Returns advice for an error in the config `path`, if the extension is not that of an INI file; "" for other files.
std::string advice_for_extension(const std::string& path) {
  constexpr std::array<std::string_view, 4> other_formats{".yaml", ".yml", ".json", ".toml"};
  const auto extension = std::filesystem::path(path).extension().string();
  if (extension == ".py") return "; the config is an INI file. To run a program: trainrt -- python3 " + shell_quoted(path);
  const bool is_other = std::ranges::find(other_formats, extension) != other_formats.end();
  return is_other ? "; the config is an INI file: `trainrt help config` shows one" : "";
}

Options read_ini_file(const std::string& path) try {
  return read_config_file_with_old_names(path);
} catch (const UsageError& error) {
  if (const auto advice = advice_for_extension(path); !advice.empty()) throw UsageError(error.what() + advice);
  throw;
}

}  // namespace

Options read_config_file(const std::string& path) {
  auto options = read_ini_file(path);
  config::require_not_renamed(
      options, fmt::format("; `trainrt check --config {} --write-renamed FILE` writes a config with the new names", path));
  return options;
}

void apply_override(Options& options, const std::string& word) {
  const std::string origin(command_line);
  const auto equals = word.find('=');
  const auto dot = word.find('.');
  if (!word.starts_with("--") || equals == std::string::npos || dot == std::string::npos || dot > equals)
    throw UsageError(fmt::format("unknown option '{}': a config key has the form --section.key=value", excerpt(word, 60)));
  if (!is_utf8(word)) throw UsageError(fmt::format("the option '{}' is not UTF-8 text", excerpt(word, 60)));
  const auto key = word.substr(2, equals - 2);
  const auto* earlier = options.find(key);
  if (earlier != nullptr && earlier->origin == origin) throw UsageError(fmt::format("option --{} is given twice", key));
  Options given;
  given.set(key, {word.substr(equals + 1), origin});
  config::require_not_renamed(given);
  options.set(key, *given.find(key));
}

}  // namespace trainrt::cli
