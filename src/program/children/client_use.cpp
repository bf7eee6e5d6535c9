#include "program/children/client_use.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/process/processes.hpp"
#include "program/children/script.hpp"

namespace trainrt::program {

namespace {

namespace fs = std::filesystem;

/// Words in Python code that show that the code may use the client: the client's name, and functions that can import any
/// module or start any program, so that this search cannot follow them.
constexpr std::array<std::string_view, 12> words_of_users = {"trainrt",  "sys.path",       "importlib",  "__import__",
                                                             "runpy",    "exec(",          "subprocess", "os.exec",
                                                             "os.spawn", "os.posix_spawn", "os.system",  "os.popen"};

bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (!is_name_character(line[at])) continue;
    const auto end = std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), is_name_character);
    const auto size = static_cast<std::size_t>(end - line.begin()) - at;
    names.emplace_back(line.substr(at, size));
    at += size;
  }
  return names;
}

/// Returns whether the Python code `text` calls the function eval(). Calls of methods with this name do not count, such
/// as model.eval() in PyTorch.
bool calls_eval(std::string_view text) {
  constexpr std::string_view call = "eval(";
  for (auto at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1))
    if (at == 0 || (text[at - 1] != '.' && !is_name_character(text[at - 1]))) return true;
  return false;
}

/// Reads the code of a Python program, and the modules that it imports, until it finds a use of the client.
class CodeSearch {
 public:
  explicit CodeSearch(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  /// Returns whether the code `text`, or a module that it imports, may use the client.
  bool in_text(const std::string& text) {
    const auto is_in_text = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (std::ranges::any_of(words_of_users, is_in_text) || calls_eval(text)) return true;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("import") == std::string::npos) continue;
      if (line.ends_with('\\')) return true;  // the import continues in the next line
      const auto names = names_in(line);
      if (std::ranges::any_of(names, [&](const std::string& name) { return in_module(name); })) return true;
    }
    return false;
  }

  bool in_file(const fs::path& path) {
    if (!seen_.insert(path).second) return false;
    std::error_code error;
    if (seen_.size() > max_files || fs::file_size(path, error) > max_bytes || error) return true;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return !file || in_text(text.str());
  }

  /// Searches the module or package `name`, if one of the folders contains it. If a folder has both, Python imports one of
  /// them, depending on the files in the package; both are searched.
  bool in_module(const std::string& name) {
    if (!modules_.insert(name).second) return false;
    std::error_code ignored;
    return std::ranges::any_of(folders_, [&](const fs::path& folder) {
      const auto path = folder / name;
      if (fs::is_directory(path, ignored) && in_package(path)) return true;
      return fs::exists(path.string() + ".py", ignored) && in_file(path.string() + ".py");
    });
  }

 private:
  static constexpr std::size_t max_files = 500;
  static constexpr std::uintmax_t max_bytes = std::uintmax_t{1} << 20;

  bool in_package(const fs::path& folder) {
    constexpr int max_entries = 5000;
    std::error_code error;
    int entries = 0;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries > max_entries) return true;
      if (at->path().extension() == ".py" && in_file(at->path())) return true;
    }
    return static_cast<bool>(error);
  }

  std::vector<fs::path> folders_;
  std::set<fs::path> seen_;
  std::set<std::string> modules_;
};

/// Returns the path under which this process can open `path` of another process, which has the working directory `folder`
/// and the root directory `root`.
fs::path resolved(const std::string& path, const std::string& folder, const std::string& root) {
  return path.starts_with('/') ? fs::path(root + path) : fs::path(folder) / path;
}

/// Returns the folders in `python_path`, a value of PYTHONPATH. An empty entry means the working directory, as in Python.
std::vector<fs::path> split_path(std::string_view python_path, const std::string& folder, const std::string& root) {
  std::vector<fs::path> folders;
  if (python_path.empty()) return folders;
  std::istringstream parts{std::string(python_path) + ':'};
  for (std::string part; std::getline(parts, part, ':');) folders.push_back(resolved(part, folder, root));
  return folders;
}

/// Returns the option -c or -m of a Python command and its value; nullopt if the command does not have it.
std::optional<std::pair<std::string, std::string>> code_option(const std::vector<std::string>& words) {
  for (std::size_t at = 1; at + 1 < words.size() && words[at].starts_with('-'); ++at)
    if (words[at] == "-c" || words[at] == "-m") return std::pair(words[at], words[at + 1]);
  return std::nullopt;
}

}  // namespace

bool may_use_client(const std::vector<std::string>& words, const std::string& folder, const std::string& root,
                    std::string_view python_path) {
  auto folders = split_path(python_path, folder, root);
  if (const auto option = code_option(words)) {
    folders.emplace_back(folder);
    CodeSearch search(std::move(folders));
    if (option->first == "-c") return search.in_text(option->second);
    const auto module = option->second.substr(0, option->second.find('.'));
    std::error_code ignored;
    const auto path = fs::path(folder) / module;
    const bool is_here = fs::is_directory(path, ignored) || fs::exists(path.string() + ".py", ignored);
    return !is_here || search.in_module(module);
  }
  const auto script = script_of(words);
  const auto path = resolved(script, folder, root);
  std::error_code ignored;
  if (!script.ends_with(".py") || fs::is_symlink(path, ignored)) return true;
  folders.push_back(path.parent_path());
  CodeSearch search(std::move(folders));
  if (search.in_file(path)) return true;
  // A launcher such as torchrun gets the program's script as an argument, and this script may use the client.
  return std::ranges::any_of(words, [&](const std::string& word) { return word != script && word.ends_with(".py"); });
}

bool may_use_client(pid_t process) {
  const auto words = command_words(process);
  const char* python_path = std::getenv("PYTHONPATH");
  return may_use_client(words, fmt::format("/proc/{}/cwd", process), fmt::format("/proc/{}/root", process),
                        python_path == nullptr ? "" : python_path);
}

}  // namespace trainrt::program
