#include "cli/doctor/python_command.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/process/spawn.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli {

namespace {

std::string name_of(const std::string& program) { return std::filesystem::path(program).filename().string(); }

/// Returns whether the program is Python: "python", "python3", "python3.11".
bool is_python(const std::string& program) {
  const auto name = name_of(program);
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

/// Returns the interpreter in the first line (#!) of a file, also after `env`; "" without such a line.
std::string interpreter_named_in(const std::string& file) {
  constexpr std::size_t max_bytes = 256;  // limit of the kernel, see execve(2)
  std::string line(max_bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(line.data(), static_cast<std::streamsize>(max_bytes));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (name_of(word) != "env") return word;
  while (words >> word)
    if (!word.starts_with('-') && word.find('=') == std::string::npos) return word;
  return {};
}

}  // namespace

std::optional<PythonCommand> python_command_of(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const auto executable = find_executable(command.front());
  if (executable.empty()) return std::nullopt;
  if (is_python(executable)) return PythonCommand{executable, program::script_of(command)};
  const auto named = interpreter_named_in(executable);
  if (named.empty() || !is_python(named)) return std::nullopt;
  const auto interpreter = find_executable(named);
  if (interpreter.empty()) return std::nullopt;
  return PythonCommand{interpreter, executable};
}

}  // namespace trainrt::cli
