#include "frameworks/program/processes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace trainrt::program {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_processes = 1000;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The fields of /proc/PID/stat from the third on, proc(5): the second is a name that may hold anything.
std::vector<std::string> fields_of(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/stat", process));
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

void add_children(pid_t process, std::vector<pid_t>& found) {
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::istringstream children(content_of(thread.path() / "children"));
    for (pid_t child = 0; children >> child && found.size() < most_processes;) found.push_back(child);
  }
}

}  // namespace

std::vector<pid_t> with_descendants(pid_t process) {
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i], found);
  return found;
}

long cpu_ticks(pid_t process) {
  constexpr std::size_t first = 11;  // utime, stime, cutime, cstime: fields 14 to 17
  const auto fields = fields_of(process);
  long ticks = 0;
  for (std::size_t i = first; i < first + 4 && i < fields.size(); ++i) ticks += std::strtol(fields[i].c_str(), nullptr, 10);
  return ticks;
}

bool runs(pid_t process) {
  const auto fields = fields_of(process);
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

bool is_python(pid_t process) {
  std::error_code gone;
  return fs::read_symlink(fmt::format("/proc/{}/exe", process), gone).filename().string().starts_with("python");
}

std::string command_line(pid_t process) {
  auto text = content_of(fmt::format("/proc/{}/cmdline", process));
  std::ranges::replace(text, '\0', ' ');
  return text;
}

}  // namespace trainrt::program
