#include "cli/command_line/intended_call.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "cli/command_line/command.hpp"
#include "cli/command_line/foreign_words.hpp"
#include "cli/config/config_file.hpp"
#include "config/section.hpp"
#include "core/environment.hpp"
#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

bool has_extension(const std::string& word, std::span<const std::string_view> extensions) {
  return std::ranges::any_of(extensions, [&](auto extension) { return word.ends_with(extension); });
}

bool is_config(const std::string& word) {
  static constexpr std::array<std::string_view, 3> extensions{".ini", ".cfg", ".conf"};
  return has_extension(word, extensions);
}

bool is_python_script(const std::string& word) { return word.ends_with(".py"); }

/// Returns whether `word` is an executable file: a path, or a name that PATH contains.
bool is_executable(const std::string& word) {
  const auto is_program = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return is_program(word);
  const auto path = Environment::of_process().text("PATH").value_or("");
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (end > at && is_program(fs::path(path.substr(at, end - at)) / word)) return true;
    at = end + 1;
  }
  return false;
}

std::string quoted_words(std::span<const std::string> words) {
  std::string text;
  for (const auto& word : words) text += " " + shell_quoted(excerpt(word, 60));
  return text;
}

std::string start_of_call(std::string_view command, std::span<const std::string> words) {
  return fmt::format("trainrt{}{}{}", command.empty() ? "" : " ", command, quoted_words(words));
}

/// Returns a call of trainrt that passes `words[at]` as the config, or the words from `words[at]` on as the program.
/// Returns "" if `words[at]` is neither a config nor a program.
std::string call_of_run(std::string_view command, std::span<const std::string> words, std::size_t at) {
  const auto& word = words[at];
  const auto start = start_of_call(command, words.first(at));
  if (is_config(word)) return fmt::format("{} --config{}", start, quoted_words(words.subspan(at)));
  if (is_python_script(word)) return fmt::format("{} -- python3{}", start, quoted_words(words.subspan(at)));
  if (word.ends_with(".sh") || is_executable(word)) return fmt::format("{} --{}", start, quoted_words(words.subspan(at)));
  return "";
}

std::string meant_by(const std::string& word, const std::string& call) {
  return fmt::format("{}: {}", is_config(word) ? "to use it as a config" : "to run a program, put -- before it", call);
}

/// Returns the name of the declared key that has `name` as its last part, or "" if there is none.
std::string declared_key(const std::string& name) {
  for (const auto& option : config::declared_options())
    if (option.key.ends_with("." + name)) return option.key;
  return "";
}

/// Returns the option that the user probably meant by a config key without dashes: "--loop.lr=0.1" for "loop.lr=0.1"
/// and for "lr=0.1". Returns "" for other words, such as the environment variable of "OMP_NUM_THREADS=4".
std::string option_for_key(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || std::islower(static_cast<unsigned char>(word.front())) == 0) return "";
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  const auto name = word.substr(0, equals);
  if (!std::ranges::all_of(name, is_part)) return "";
  auto key = name.find('.') == std::string::npos ? declared_key(name) : name;
  if (key.empty()) key = "loop." + name;
  return fmt::format("--{}={}", key, excerpt(word.substr(equals + 1), 60));
}

/// Returns advice for the words --NAME VALUE, if --section.key=value was probably meant. An undeclared NAME is probably
/// a key of [loop]. Returns "" if NAME cannot be a key.
std::string advice_for_key(const std::string& option, const std::string& next) {
  if (!option.starts_with("--")) return "";
  const auto equals = std::min(option.find('='), option.size());
  const auto name = option.substr(2, equals - 2);
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  if (name.empty() || !std::ranges::all_of(name, is_part)) return "";
  const auto value = equals < option.size() ? option.substr(equals + 1) : next.starts_with("-") ? "" : next;
  auto key = name.find('.') == std::string::npos ? declared_key(name) : name;
  if (key.empty() && value.empty()) return "";  // probably a switch
  if (key.empty()) key = "loop." + name;
  const auto call = fmt::format("--{}={}", key, value.empty() ? "VALUE" : excerpt(value, 60));
  if (name == key && equals == option.size()) return fmt::format("'=' is missing after the key: {}", shell_quoted(call));
  return fmt::format("a config key has the form --section.key=value: {}", call);
}

/// Returns whether `word` is the option -n and its number in one word, such as -n2.
bool is_joined_count(const std::string& word) { return word.starts_with("-n") && parse_integer(word.substr(2)); }

const CommandOption* option_named(std::span<const CommandOption> options, const std::string& word) {
  const auto found = std::ranges::find_if(options, [&](const CommandOption& option) {
    return word == (option.is_parsed() ? "--" : "") + std::string(option.name);
  });
  return found == options.end() ? nullptr : &*found;
}

const Command* command_named(const std::string& word) {
  for (const auto* command : command_table())
    if (command->name == word) return command;
  return nullptr;
}

constexpr std::string_view workers_of_trials = "the key tune.workers sets the number of ranks per trial";

/// Returns the message for the name of a command after an option, such as "-n 2 result runs/first". `words[at]` is the name
/// of `command`.
std::string command_after_options(const Command& command, std::span<const std::string> words, std::size_t at) {
  std::vector<std::string> rest(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  const auto count = std::ranges::find(rest, "-n");
  const bool drops_count = option_named(command.options, "-n") == nullptr && count != rest.end();
  if (drops_count) rest.erase(count, count + std::min<std::ptrdiff_t>(2, rest.end() - count));
  rest.insert(rest.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  std::string note;
  if (drops_count) note = fmt::format("; {}", command.name == "tune" ? workers_of_trials : "this command has no option -n");
  return fmt::format("unexpected argument '{}': a command comes first: {}{}", words[at], start_of_call(command.name, rest),
                     note);
}

/// Returns the message for `words[at]`, which is neither an option nor the value of one.
std::string unexpected_operand(std::string_view command, std::span<const std::string> words, std::size_t at) {
  const auto shown = excerpt(words[at], 60);
  if (const auto option = option_for_key(words[at]); !option.empty())
    return fmt::format("unexpected argument '{}': a config key is given as {}", shown, shell_quoted(option));
  if (const auto* named = command_named(words[at]); named != nullptr && command.empty())
    return command_after_options(*named, words, at);
  if (const auto call = call_of_run(command, words, at); !call.empty())
    return fmt::format("unexpected argument '{}'; {}", shown, meant_by(words[at], call));
  if (const auto advice = advice_for_word(words[at]); !advice.empty())
    return fmt::format("unexpected argument '{}': {}", shown, advice);
  return fmt::format("unexpected argument '{}'; {}", shown,
                     meant_by(words[at], fmt::format("{} --{}", start_of_call(command, words.first(at)),
                                                     quoted_words(words.subspan(at)))));
}

/// Returns the directory of the run that a config describes, or "RUN_DIR" if it cannot be determined.
std::string run_dir_of_config(const std::string& path) try {
  const auto config = read_config_file(path);
  const auto folder = config.text("run.storage_path"), name = config.text("run.name");
  if (folder.empty() || name.empty() || (folder + name).find('$') != std::string::npos) return "RUN_DIR";
  return shell_quoted((fs::path(folder) / name).string());
} catch (const Error&) {
  return "RUN_DIR";
}

std::string_view first_name(std::string_view usage) { return usage.substr(0, usage.find(' ')); }

}  // namespace

std::string unknown_command(std::span<const std::string> words) {
  const auto& word = words.front();
  const auto shown = excerpt(word, 60);
  if (const auto option = option_for_key(word); !option.empty())
    return fmt::format("unknown command '{}': a config key is given as {}", shown, shell_quoted(option));
  if (const auto advice = advice_for_word(word); !advice.empty())
    return fmt::format("unknown command '{}': {}", shown, advice);
  if (is_config(word) || is_python_script(word))
    return fmt::format("unknown command '{}'; {}", shown, meant_by(word, call_of_run("", words, 0)));
  std::error_code error;
  if (fs::is_directory(word, error))
    return fmt::format("unknown command '{}': this is a directory; to show the runs in it: trainrt result {}", shown,
                       shell_quoted(word));
  const auto names = names_of(command_table());
  const auto similar = did_you_mean(word, names);
  if (const auto call = call_of_run("", words, 0); !call.empty() && similar.empty())
    return fmt::format("unknown command '{}'; {}", shown, meant_by(word, call));
  return fmt::format("unknown command '{}'{}; `trainrt --help` shows all commands", shown, similar);
}

void refuse_operands(std::string_view command, std::span<const std::string> words, std::span<const CommandOption> options) {
  const ArgumentSpec spec{.options = options, .overrides = true, .usage = command};
  for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const auto& word = words[at];
    const auto next = at + 1 < words.size() && words[at + 1] != "--" ? words[at + 1] : "";
    if (!word.starts_with("-") || word.size() == 1) throw UsageError(unexpected_operand(command, words, at));
    if (is_joined_count(word) && option_named(options, "-n") != nullptr) continue;
    const auto equals = word.find('=');
    const auto* option = option_named(options, word.substr(0, equals));
    const bool is_override = equals != std::string::npos && word.substr(0, equals).find('.') != std::string::npos;
    if (option == nullptr && !is_override) throw UsageError(unknown_option(word, next, spec));
    const bool has_value = option != nullptr && !option->argument.empty() && equals == std::string::npos;
    if (has_value && (at + 1 == words.size() || words[at + 1] == "--")) return;  // the parser reports the missing value
    if (has_value) ++at;
  }
}

std::string unknown_option(const std::string& option, const std::string& next, const ArgumentSpec& spec) {
  const auto name = option.substr(0, option.find('='));
  const auto shown = excerpt(option, 60);
  if (const auto advice = advice_for_option(name); !advice.empty())
    return fmt::format("unknown option '{}': {}", shown, advice);
  if (name == "-n" && first_name(spec.usage) == "tune")
    return fmt::format("unknown option '-n': {}: --tune.workers={}", workers_of_trials, parse_integer(next) ? next : "N");
  if ((name == "-n" || is_joined_count(name)) && first_name(spec.usage) == "supervise")
    return fmt::format("unknown option '{}': sbatch sets the number of ranks: sbatch -n N, or #SBATCH --ntasks=N", shown);
  std::vector<std::string> known;
  for (const auto& each : spec.options)
    if (each.is_parsed()) known.push_back("--" + std::string(each.name));
  if (name == "--config" && spec.usage.find("RUN_DIR") != std::string_view::npos) {
    const auto config = option == name ? next : option.substr(name.size() + 1);
    return fmt::format("unknown option '--config': this command reads a run directory: trainrt {} {}",
                       first_name(spec.usage), run_dir_of_config(config));
  }
  const auto similar = did_you_mean(name, known);
  if (name == "--config" && similar.empty()) {
    const auto config = option == name ? (next.starts_with("-") ? "" : next) : option.substr(name.size() + 1);
    return fmt::format(
        "unknown option '--config': this command reads no config. To validate a config: trainrt check --config {}; to show "
        "a config with all keys: trainrt help config",
        config.empty() ? "FILE" : shell_quoted(config));
  }
  const auto key = spec.overrides && similar.empty() ? advice_for_key(option, next) : "";
  if (!key.empty()) return fmt::format("unknown option '{}': {}", shown, key);
  const bool is_name = spec.usage.find(' ') == std::string_view::npos;
  const auto more = is_name ? fmt::format("`trainrt {} --help` shows all options", spec.usage.empty() ? "run" : spec.usage)
                            : fmt::format("usage: trainrt {}", spec.usage);
  return fmt::format("unknown option '{}'{}; {}", shown, similar, more);
}

std::string key_given_to_program(std::span<const std::string> command) {
  const auto sets_key = [declared = config::declared_options()](const std::string& word) {
    return std::ranges::any_of(declared, [&](const auto& option) { return word.starts_with("--" + option.key + "="); });
  };
  const auto found = std::ranges::find_if(command, sets_key);
  if (found == command.end()) return {};
  return fmt::format("the program gets '{}', which is a key of trainrt: to set the key, put it before --",
                     excerpt(*found, 60));
}

}  // namespace trainrt::cli
