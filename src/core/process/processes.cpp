#include "core/process/processes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace trainrt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_processes = 1000;

/// Nothing, or what could be read, if the process ends meanwhile: then the kernel fails the read, which an iterator over
/// the file would throw.
std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Nothing if the text is no number, or more.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The fields of /proc/PID/stat from the third on, proc(5): the second is a name that may hold anything.
std::vector<std::string> fields_of(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/stat", process));
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// The number behind a word; -1 if there is none.
std::int64_t value_behind(const std::string& wanted, const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (std::int64_t number = 0; word == wanted && words >> number) return number;
  return -1;
}

std::int64_t kilobytes_behind(const std::string& wanted, const std::string& text) {
  const auto number = value_behind(wanted, text);
  return number < 0 ? -1 : 1024 * number;
}

bool has_ended(const std::string& state) { return state == "Z" || state == "X"; }

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

std::vector<pid_t> process_tree(pid_t process) {
  static const bool has_lists = fs::exists(fmt::format("/proc/self/task/{}/children", getpid()));
  if (has_lists) return with_descendants(process);
  std::multimap<pid_t, pid_t> children;
  for (const pid_t each : all_processes())
    if (const auto fields = fields_of(each); fields.size() > 1)
      children.emplace(number_in<pid_t>(fields[1]).value_or(0), each);
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto at = begin; at != end && found.size() < most_processes; ++at) found.push_back(at->second);
  }
  return found;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied, none))
    if (const auto process = number_in<pid_t>(entry.path().filename().string())) found.push_back(*process);
  return found;
}

std::vector<pid_t> processes_with(std::span<const std::string> variables) {
  auto processes = all_processes();
  std::erase_if(processes, [&](pid_t process) {
    const auto environment = '\0' + content_of(fmt::format("/proc/{}/environ", process)) + '\0';
    return !std::ranges::all_of(variables, [&](const std::string& variable) {
      return environment.find('\0' + variable + '\0') != std::string::npos;
    });
  });
  return processes;
}

std::optional<Kinship> kinship(pid_t process) {
  const auto fields = fields_of(process);
  if (fields.size() < 3 || has_ended(fields[0])) return std::nullopt;
  return Kinship{number_in<pid_t>(fields[1]).value_or(0), number_in<pid_t>(fields[2]).value_or(0)};
}

/// By the mask SigCgt: its lowest bit is signal 1.
bool catches(pid_t process, int signal) {
  constexpr std::string_view key = "SigCgt:\t";
  std::istringstream status(content_of(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const auto mask = number_in<std::uint64_t>(std::string_view(line).substr(key.size()), 16).value_or(0);
    return (mask >> (signal - 1) & 1) != 0;
  }
  return false;
}

long cpu_ticks(pid_t process) {
  constexpr std::size_t first = 11;  // utime, stime, cutime, cstime: fields 14 to 17
  const auto fields = fields_of(process);
  long ticks = 0;
  for (std::size_t i = first; i < first + 4 && i < fields.size(); ++i) ticks += number_in<long>(fields[i]).value_or(0);
  return ticks;
}

StorageBytes storage_bytes(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/io", process));
  return {value_behind("read_bytes:", text), value_behind("write_bytes:", text)};
}

ProcessMemory memory_of_process(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/status", process));
  return {kilobytes_behind("VmRSS:", text), kilobytes_behind("VmHWM:", text)};
}

std::int64_t proportional_memory(pid_t process) {
  return kilobytes_behind("Pss:", content_of(fmt::format("/proc/{}/smaps_rollup", process)));
}

bool runs(pid_t process) {
  const auto fields = fields_of(process);
  return !fields.empty() && !has_ended(fields[0]);
}

bool is_python(pid_t process) {
  std::error_code gone;
  return fs::read_symlink(fmt::format("/proc/{}/exe", process), gone).filename().string().starts_with("python");
}

std::string command_text(pid_t process) {
  auto text = content_of(fmt::format("/proc/{}/cmdline", process));
  std::ranges::replace(text, '\0', ' ');
  return text;
}

}  // namespace trainrt
