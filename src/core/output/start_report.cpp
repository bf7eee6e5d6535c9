#include "core/output/start_report.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/process/processes.hpp"
#include "core/restart_help.hpp"
#include "core/text/text.hpp"

namespace trainrt {

namespace {

/// Returns the seconds from the start of the parent process to the start of this process. Returns 0 if the parent is not
/// `trainrt`, or if this process belongs to a restart.
double seconds_in_launcher() {
  if (Environment::of_process().number(failures_variable) != 0) return 0;
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto parent = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", getppid()), error);
  if (error || own != parent) return 0;
  const auto ticks = process_start_time(getpid()) - process_start_time(getppid());
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

StartReport& StartReport::of_process() {
  static StartReport report;
  return report;
}

void StartReport::enable() {
  is_enabled_ = true;
  ended_s_ = 0;
  parts_.clear();
  if (const double launcher_s = seconds_in_launcher(); launcher_s > 0)
    parts_.emplace_back("start of the ranks", launcher_s);
  add("process");
}

void StartReport::add(std::string_view part) {
  const double now_s = seconds_since_process_start();
  parts_.emplace_back(part, now_s - ended_s_);
  ended_s_ = now_s;
}

void StartReport::finish() {
  add("first step");
  is_enabled_ = false;
  log::info("start: " + text());
}

std::string StartReport::text() const {
  double total_s = 0;
  std::vector<std::string> parts;
  for (const auto& [part, seconds] : parts_) {
    total_s += seconds;
    parts.push_back(fmt::format("{} {:.3f} s", part, seconds));
  }
  return fmt::format("{:.3f} s to the end of the first step: {}", total_s, join(parts));
}

}  // namespace trainrt
