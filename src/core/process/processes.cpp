#include "core/process/processes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "core/text/parse_number.hpp"
#include "core/text/text.hpp"

namespace trainrt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_processes = 1000;

/// Returns the content of a file in /proc. If the process ends during the call, the kernel fails the read, and the result
/// is "" or a part of the content. Does not throw.
std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the fields of /proc/PID/stat from the third field on (proc(5)). The second field, the process's name, may
/// contain any characters, so parsing begins after its closing parenthesis.
std::vector<std::string> fields_of(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/stat", process));
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// Returns the number after the word `wanted` in `text`; -1 if the word is missing.
std::int64_t value_after(const std::string& wanted, const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (std::int64_t number = 0; word == wanted && words >> number) return number;
  return -1;
}

std::int64_t kilobytes_after(const std::string& wanted, const std::string& text) {
  const auto number = value_after(wanted, text);
  return number < 0 ? -1 : 1024 * number;
}

// Time of the last call of begin_process_time(), by seconds_since_boot(); negative if there was no call.
std::atomic<double> began_s = -1;

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool has_ended(const std::string& state) { return state == "Z" || state == "X"; }

void add_children(pid_t process, std::vector<pid_t>& found) {
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::istringstream children(content_of(thread.path() / "children"));
    for (pid_t child = 0; children >> child && found.size() < max_processes;) found.push_back(child);
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
      children.emplace(parse_number<pid_t>(fields[1]).value_or(0), each);
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto at = begin; at != end && found.size() < max_processes; ++at) found.push_back(at->second);
  }
  return found;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied, none))
    if (const auto process = parse_number<pid_t>(entry.path().filename().string())) found.push_back(*process);
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
  return Kinship{parse_number<pid_t>(fields[1]).value_or(0), parse_number<pid_t>(fields[2]).value_or(0)};
}

unsigned long long process_start_time(pid_t process) {
  constexpr std::size_t start_time = 19;  // field 22 of /proc/PID/stat; fields_of() begins with field 3
  const auto fields = fields_of(process);
  if (fields.size() <= start_time || has_ended(fields[0])) return 0;
  return parse_number<unsigned long long>(fields[start_time]).value_or(0);
}

double seconds_since_process_start() {
  if (const double began = began_s; began >= 0) return seconds_since_boot() - began;
  const auto ticks = static_cast<double>(process_start_time(getpid()));
  return seconds_since_boot() - ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void begin_process_time() { began_s = seconds_since_boot(); }

std::string status_value(pid_t process, std::string_view key) {
  std::istringstream status(content_of(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return trim(line.substr(key.size()));
  return {};
}

/// Reads the mask of caught signals (SigCgt in /proc/PID/status). The lowest bit is signal 1.
bool catches(pid_t process, int signal) {
  return (std::strtoull(status_value(process, "SigCgt:").c_str(), nullptr, 16) >> (signal - 1) & 1) != 0;
}

long cpu_ticks(pid_t process) {
  constexpr std::size_t first = 11;  // fields 14 to 17 of /proc/PID/stat: utime, stime, cutime, cstime
  const auto fields = fields_of(process);
  long ticks = 0;
  for (std::size_t i = first; i < first + 4 && i < fields.size(); ++i) ticks += parse_number<long>(fields[i]).value_or(0);
  return ticks;
}

StorageBytes storage_bytes(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/io", process));
  return {value_after("read_bytes:", text), value_after("write_bytes:", text)};
}

ProcessMemory memory_of_process(pid_t process) {
  const auto text = content_of(fmt::format("/proc/{}/status", process));
  return {kilobytes_after("VmRSS:", text), kilobytes_after("VmHWM:", text)};
}

std::int64_t proportional_memory(pid_t process) {
  return kilobytes_after("Pss:", content_of(fmt::format("/proc/{}/smaps_rollup", process)));
}

bool runs(pid_t process) {
  const auto fields = fields_of(process);
  return !fields.empty() && !has_ended(fields[0]);
}

bool is_python(pid_t process) {
  std::error_code gone;
  return fs::read_symlink(fmt::format("/proc/{}/exe", process), gone).filename().string().starts_with("python");
}

std::vector<std::string> command_words(pid_t process) {
  std::istringstream text(content_of(fmt::format("/proc/{}/cmdline", process)));
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  return words;
}

std::string command_text(pid_t process) {
  auto text = content_of(fmt::format("/proc/{}/cmdline", process));
  std::ranges::replace(text, '\0', ' ');
  return text;
}

}  // namespace trainrt
