#include "program/progress/progress_watch.hpp"

#include <algorithm>
#include <ctime>
#include <ranges>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"

namespace trainrt::program {

namespace {

constexpr double max_scan_s = 0.1;  // maximum CPU time of a scan; the other ranks wait for this rank meanwhile

/// Returns the CPU time of this thread. Unlike the elapsed time, it does not depend on the load of the machine.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void ProgressWatch::end_line(std::string& line) {
  if (line.empty()) return;
  lines_.push_back(std::exchange(line, {}));
  if (lines_.size() > max_lines) lines_.pop_front();
}

void ProgressWatch::add(std::size_t stream, std::string_view bytes) {
  if (given_up_) return;
  const std::lock_guard lock(mutex_);
  auto& line = unfinished_.at(stream);
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    line += bytes.substr(0, std::min(end, max_line_bytes - line.size()));
    if (end == bytes.size()) return;
    end_line(line);
    bytes.remove_prefix(end + 1);
  }
}

std::deque<std::string> ProgressWatch::take_lines(bool at_end) {
  const std::lock_guard lock(mutex_);
  if (at_end) std::ranges::for_each(unfinished_, [this](auto& line) { end_line(line); });
  return std::exchange(lines_, {});
}

bool ProgressWatch::is_further(const ProgressNumbers& found) {
  const auto position = std::ranges::find(found, pattern_.position(), &ProgressNumbers::value_type::first)->second;
  if (position <= last_) return false;
  last_ = position;
  return true;
}

std::optional<ProgressNumbers> ProgressWatch::numbers_in(const std::string& line) try {
  return pattern_.find(line);
} catch (const UsageError& error) {
  if (!std::exchange(warned_, true))
    log::warning(fmt::format("program.progress: {}; this line and later lines like it are skipped", error.what()));
  return std::nullopt;
} catch (const Error& error) {
  give_up(error.what());
  return std::nullopt;
}

void ProgressWatch::give_up(std::string_view why) {
  given_up_ = true;
  log::warning(
      fmt::format("program.progress is too slow for the program's output ({}); "
                  "no more progress is read. The usual cause is an expression with many .*",
                  why));
}

std::optional<ProgressNumbers> ProgressWatch::newest(bool at_end) {
  if (given_up_) return std::nullopt;
  const auto lines = take_lines(at_end);
  const double begin_s = cpu_seconds();
  for (const auto& line : std::views::reverse(lines)) {
    const double line_s = cpu_seconds();
    auto found = numbers_in(line);
    const double now_s = cpu_seconds();
    if (now_s - line_s > max_match_s_) give_up(fmt::format("a line took more than {:g} s of CPU time", max_match_s_));
    if (found && is_further(*found)) return found;
    if (given_up_ || now_s - begin_s > max_scan_s) break;
  }
  return std::nullopt;
}

Metrics shared_progress(Communicator& communicator, const std::optional<ProgressNumbers>& mine) {
  std::string text;
  if (mine)
    for (const auto& [name, number] : *mine) text += fmt::format("{} {}\n", name, number);
  std::istringstream lines(communicator.broadcast_text(std::move(text), 0));
  Metrics metrics;
  for (std::string name, number; lines >> name >> number;) metrics.emplace_back(name, std::stod(number));
  return metrics;
}

}  // namespace trainrt::program
