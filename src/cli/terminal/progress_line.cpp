#include "cli/terminal/progress_line.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host.hpp"
#include "metrics/outputs/progress.hpp"

namespace trainrt::cli {

namespace {

constexpr double terminal_interval_s = 0.1;
constexpr double log_interval_s = 60;

std::string in_unit(std::uint64_t bytes, std::size_t unit) {
  auto number = static_cast<double>(bytes);
  for (std::size_t i = 0; i < unit; ++i) number /= 1024;
  return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{:.1f}", number);
}

}  // namespace

std::string progress_in_bytes(std::uint64_t done, std::uint64_t all) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (auto rest = all; rest >= 1024 && unit + 1 < units.size(); rest /= 1024) ++unit;
  return fmt::format("{} of {} {}", in_unit(done, unit), in_unit(all, unit), units[unit]);
}

ProgressLine::Screen ProgressLine::standard_error() {
  return {.terminal = isatty(STDERR_FILENO) == 1,
          .write = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
          .now = monotonic_seconds};
}

ProgressLine::ProgressLine(std::string title, bool quiet, Screen screen, Format format)
    : title_(std::move(title)), quiet_(quiet), screen_(std::move(screen)), format_(format), shown_s_(screen_.now()) {}

void ProgressLine::show(std::uint64_t done, std::uint64_t all) {
  if (quiet_ || all == 0) return;
  const auto now = screen_.now();
  if (now - shown_s_ < (screen_.terminal ? terminal_interval_s : log_interval_s)) return;
  shown_s_ = now;
  const auto text =
      fmt::format("{}  {}  {}", title_, metrics::bar(static_cast<std::int64_t>(done), static_cast<std::int64_t>(all)),
                  format_(done, all));
  screen_.write(screen_.terminal ? "\r" + text + "\x1b[K" : text + "\n");
  line_open_ = screen_.terminal;
}

void ProgressLine::end() {
  if (std::exchange(line_open_, false)) screen_.write("\r\x1b[K");
}

}  // namespace trainrt::cli
