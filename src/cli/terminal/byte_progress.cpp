#include "cli/terminal/byte_progress.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/text/byte_size.hpp"
#include "metrics/outputs/progress.hpp"

namespace trainrt::cli {

namespace {

constexpr double terminal_interval_s = 0.1;
constexpr double log_interval_s = 60;
constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

/// The unit in which that many bytes are read most easily.
std::size_t unit_of(std::uint64_t bytes) {
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); bytes /= 1024) ++unit;
  return unit;
}

std::string number_text(std::uint64_t bytes, std::size_t unit) {
  double number = static_cast<double>(bytes);
  for (std::size_t i = 0; i < unit; ++i) number /= 1024;
  return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{:.1f}", number);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) { return byte_size(bytes); }

std::string bytes_text(std::uint64_t done, std::uint64_t all) {
  const auto unit = unit_of(all);
  return fmt::format("{} of {} {}", number_text(done, unit), number_text(all, unit), units[unit]);
}

ByteProgress::Screen ByteProgress::standard_error() {
  return {.terminal = isatty(STDERR_FILENO) == 1,
          .write = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
          .now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }};
}

ByteProgress::ByteProgress(std::string what, bool quiet, Screen screen, InWords in_words)
    : what_(std::move(what)), quiet_(quiet), screen_(std::move(screen)), in_words_(in_words), shown_s_(screen_.now()) {}

void ByteProgress::show(std::uint64_t done, std::uint64_t all) {
  if (quiet_ || all == 0) return;
  const auto now = screen_.now();
  if (now - shown_s_ < (screen_.terminal ? terminal_interval_s : log_interval_s)) return;
  shown_s_ = now;
  const auto text =
      fmt::format("{}  {}  {}", what_, metrics::bar(static_cast<std::int64_t>(done), static_cast<std::int64_t>(all)),
                  in_words_(done, all));
  screen_.write(screen_.terminal ? "\r" + text + "\x1b[K" : text + "\n");
  line_open_ = screen_.terminal;
}

void ByteProgress::end() {
  if (std::exchange(line_open_, false)) screen_.write("\r\x1b[K");
}

}  // namespace trainrt::cli
