#include "core/host.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>

#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string pid_scope() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 128> space{};
  const auto length = readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
  return boot + "/" + std::string(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

unsigned long long process_start_time(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat, '\0');         // nothing if the process ends meanwhile: then the kernel fails the read
  const auto name_end = stat.rfind(')');  // the command's name may hold blanks and brackets
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) {
    fields >> field;
    if (i == 3 && (field == "Z" || field == "X")) return 0;  // a zombie runs no more
  }
  return field.empty() ? 0 : std::stoull(field);
}

std::vector<std::string> command_of_process() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string utc_now() { return utc_before(0); }

std::string utc_before(double seconds) {
  const auto now = std::time(nullptr) - static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

double seconds_between(const std::string& from, const std::string& to) {
  const auto moment = [](const std::string& text) {
    std::tm parts{};
    const auto* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end == nullptr || *end != '\0') throw Error("'" + text + "' is no UTC time such as 2026-11-21T01:02:03Z");
    return timegm(&parts);
  };
  return std::difftime(moment(to), moment(from));
}

double seconds_since_process_start() {
  const auto ticks = static_cast<double>(process_start_time(static_cast<int>(getpid())));
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace trainrt
