#include "metrics/progress.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace trainrt::metrics {

namespace {

constexpr double terminal_interval_s = 0.1;
constexpr double first_interval_s = 10;
constexpr double last_interval_s = 60;

std::string shown(double number) { return fmt::format("{:.4g}", number); }
std::string shown(std::int64_t number) { return fmt::format("{}", number); }
std::string shown(const std::string& text) { return text; }

/// A line stays one line, whatever a text metric holds.
std::string without_controls(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

/// At most `width` columns; whole UTF-8 characters, each taken as one column.
std::string cut(const std::string& text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++columns > width) return text.substr(0, i);
  return text;
}

}  // namespace

std::string summary(const Record& record) {
  auto text = fmt::format("iteration {}", record.iteration);
  for (const auto& [key, value] : record.values)
    if (!key.starts_with("_")) text += "  " + key + "=" + std::visit([](const auto& v) { return shown(v); }, value);
  return without_controls(text);
}

std::string rate(double iterations, double seconds) {
  if (iterations <= 0 || seconds <= 0) return {};
  return iterations >= seconds ? fmt::format("{:.3g} it/s", iterations / seconds)
                               : fmt::format("{:.3g} s/it", seconds / iterations);
}

std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t width = 20;
  const auto reached = std::clamp(done, std::int64_t{0}, total);
  const auto filled = static_cast<std::size_t>(reached * width / total);
  return fmt::format("[{}{}] {:3}%", std::string(filled, '#'), std::string(width - filled, '-'), reached * 100 / total);
}

Progress::Progress(std::string run_name, Screen screen, std::function<double()> now)
    : run_name_(std::move(run_name)), screen_(std::move(screen)), now_(std::move(now)) {}

void Progress::begin(const std::vector<Record>&) { shown_s_ = reported_s_ = now_(); }

double Progress::seconds_of(const Record& record) {
  const double since = now_() - std::exchange(reported_s_, now_());
  const auto* told = record.find("_time_this_iter_s");
  const auto* seconds = told != nullptr ? std::get_if<double>(told) : nullptr;
  return seconds != nullptr ? *seconds : since;
}

void Progress::write(const Record& record) {
  ++since_shown_;
  taken_s_ += seconds_of(record);
  waiting_ = record;
  if (interval_s_ > 0 && now_() - shown_s_ < interval_s_) return;
  show(record);
  if (screen_.terminal)
    interval_s_ = terminal_interval_s;
  else
    interval_s_ = interval_s_ > 0 ? std::min(2 * interval_s_, last_interval_s) : first_interval_s;
}

void Progress::show(const Record& record) {
  const auto now = now_();
  auto line = run_name_ + ": ";
  if (screen_.terminal && total_ > 0) line += bar(record.iteration, total_) + "  ";
  line += summary(record);
  if (const auto speed = rate(since_shown_, taken_s_); !speed.empty()) line += "  " + speed;
  if (screen_.terminal)
    screen_.write("\r" + cut(line, screen_.width > 1 ? screen_.width - 1 : 79) + "\x1b[K");
  else
    screen_.write(line + "\n");
  line_open_ = screen_.terminal;
  shown_s_ = now;
  since_shown_ = 0;
  taken_s_ = 0;
  waiting_.reset();
}

void Progress::end() {
  if (const auto last = std::exchange(waiting_, std::nullopt)) show(*last);
  if (std::exchange(line_open_, false)) screen_.write("\n");
}

}  // namespace trainrt::metrics
