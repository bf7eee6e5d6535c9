#include "program/children/script.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt::program {

namespace {

/// An interpreter: its name without a version, and the one-letter options that it accepts before the script.
struct Interpreter {
  std::string_view name;
  std::string_view switches;    ///< options without a value
  std::string_view with_value;  ///< options with a value, which is the rest of the argument or the next argument
};

constexpr Interpreter interpreters[] = {{"python", "bBdEiIOPqsSuvx", "WX"},
                                        {"bash", "abefhiklmnprtuvxBCEHPT", "oO"},
                                        {"sh", "abefhimnuvx", "o"},
                                        {"dash", "abefhimnuvx", "o"},
                                        {"zsh", "efxvu", "o"},
                                        {"ksh", "abefhmnprtuvxBC", "o"},
                                        {"perl", "wtTu", "I"},
                                        {"ruby", "wW", "I"},
                                        {"Rscript", "", ""},
                                        {"julia", "", ""},
                                        {"node", "", ""},
                                        {"lua", "", ""}};

const Interpreter* interpreter_of(const std::string& program) {
  auto name = std::filesystem::path(program).filename().string();
  name.erase(name.find_last_not_of("0123456789.") + 1);
  const auto* found = std::ranges::find(interpreters, name, &Interpreter::name);
  return found == std::end(interpreters) ? nullptr : found;
}

bool is_readable(const std::filesystem::path& file) { return access(file.c_str(), R_OK) == 0; }

/// Returns whether a folder of PATH contains the script. Shells search the PATH for their script, too.
bool is_on_path(const std::string& script) {
  const char* path = std::getenv("PATH");
  if (path == nullptr || script.find('/') != std::string::npos) return false;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_readable(std::filesystem::path(folder) / script)) return true;
  return false;
}

/// Returns the number of arguments that an option takes, including the option itself; 0 if the option is unknown or no
/// script may follow it.
std::size_t argument_count(std::string_view option, const Interpreter& interpreter) {
  for (std::size_t at = 1; at < option.size(); ++at) {
    if (interpreter.with_value.find(option[at]) != std::string_view::npos) return at + 1 < option.size() ? 1 : 2;
    if (interpreter.switches.find(option[at]) == std::string_view::npos) return 0;
  }
  return 1;
}

constexpr std::string_view standard_input = "-";

/// Returns the script that the interpreter at the beginning of `command` runs: the path of the script, `standard_input`
/// if the script is read from there, or "" if the script is unknown.
std::string script_for(const Interpreter& interpreter, std::span<const std::string> command) {
  for (std::size_t at = 1; at < command.size();) {
    const auto& word = command[at];
    const bool is_input = word == standard_input || word == "/dev/stdin" || word == "/dev/fd/0";
    if (is_input || (word == "-s" && interpreter.name.ends_with("sh"))) return std::string(standard_input);
    if (word.starts_with('+')) return {};  // an option of a shell, such as +x
    if (!word.starts_with('-')) return word;
    const auto taken = argument_count(word, interpreter);
    if (taken == 0) return {};
    at += taken;
  }
  return std::string(standard_input);
}

}  // namespace

std::string script_of(const std::vector<std::string>& command) {
  const auto* interpreter = command.empty() ? nullptr : interpreter_of(command.front());
  const auto script = interpreter == nullptr ? "" : script_for(*interpreter, command);
  return script == standard_input ? "" : script;
}

bool reads_script_from_input(const std::vector<std::string>& command) {
  const std::span words(command);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto* interpreter = interpreter_of(words[at]);
    if (interpreter == nullptr || script_for(*interpreter, words.subspan(at)) != standard_input) continue;
    // A word "bash" after the first word may be an argument of another program, as in `--shell bash`. It counts as an
    // interpreter only if the word "-" follows.
    if (at == 0 || std::ranges::find(words.subspan(at), standard_input) != words.end()) return true;
  }
  return false;
}

void require_script(const std::vector<std::string>& command) {
  const auto script = script_of(command);
  if (script.empty() || is_readable(script)) return;
  const int why = errno;
  if (is_on_path(script)) return;
  throw UsageError(fmt::format("train.program: cannot read script '{1}' of {0} on this node: {2}{3}", command.front(),
                               script, std::strerror(why),
                               script.starts_with('/') ? "" : " (in " + std::filesystem::current_path().string() + ")"));
}

}  // namespace trainrt::program
