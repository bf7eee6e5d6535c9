#include "metrics/outputs/progress.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/text/display_width.hpp"
#include "core/text/text.hpp"

namespace trainrt::metrics {

namespace {

constexpr double terminal_interval_s = 0.1;
constexpr double first_interval_s = 10;
constexpr double last_interval_s = 60;

std::string shown(double number) { return fmt::format("{:.4g}", number); }
std::string shown(std::int64_t number) { return fmt::format("{}", number); }
std::string shown(const std::string& text) { return text; }

/// Truncates `text` to its first `width` UTF-8 characters; each is assumed to be one column wide.
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
  return plain_text(text);
}

std::string rate(double count, double seconds, std::string_view many, std::string_view one) {
  if (count <= 0 || seconds <= 0) return {};
  return count >= seconds ? fmt::format("{} {}/s", three_digits(count / seconds), many)
                          : fmt::format("{} s/{}", three_digits(seconds / count), one);
}

std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t width = 20;
  const auto reached = std::clamp(done, std::int64_t{0}, total);
  const auto filled = static_cast<std::size_t>(reached * width / total);
  return fmt::format("[{}{}] {:3}%", std::string(filled, '#'), std::string(width - filled, '-'), reached * 100 / total);
}

ProgressSink::ProgressSink(std::string run_name, ProgressOutput output, std::function<double()> now,
                           std::function<std::string()> time_left)
    : run_name_(plain_text(run_name)), output_(std::move(output)), now_(std::move(now)), time_left_(std::move(time_left)) {}

ProgressSink::~ProgressSink() { leave_last_row(); }

void ProgressSink::begin(const std::vector<Record>&) {
  shown_s_ = reported_s_ = now_();
  shown_step_ = step_;
}

double ProgressSink::seconds_of(const Record& record) {
  const double since = now_() - std::exchange(reported_s_, now_());
  return record.number("_time_this_iter_s").value_or(since);
}

void ProgressSink::write(const Record& record) {
  const double seconds = seconds_of(record);
  ++since_shown_;
  taken_s_ += seconds;
  waiting_ = record;
  if (!output_.every_report && interval_s_ > 0 && now_() - shown_s_ < interval_s_) return;
  show(record);
  if (taken_)
    interval_s_ = terminal_interval_s;
  else
    interval_s_ = interval_s_ > 0 ? std::min(2 * interval_s_, last_interval_s) : first_interval_s;
}

/// Returns the text of the progress line, without the run's name and the progress bar. Omits the training step if the run
/// does not count training steps, or makes one report per step.
std::string ProgressSink::line_of(const Record& record) const {
  const auto steps = step_ - shown_step_;
  const bool with_steps = step_ > 0 && step_ != record.iteration;
  auto line = summary(record);
  if (with_steps)
    line.insert(line.find("  ") == std::string::npos ? line.size() : line.find("  "), fmt::format("  step {}", step_));
  const auto add = [&](const std::string& text) {
    if (!text.empty()) line += "  " + text;
  };
  add(rate(since_shown_, taken_s_));
  if (with_steps) add(rate(static_cast<double>(steps), reported_s_ - shown_s_, "steps", "step"));
  if (time_left_) add(time_left_());
  return line;
}

void ProgressSink::show(const Record& record) {
  const auto line = line_of(record);
  const auto size = output_.every_report ? std::nullopt : output_.size();
  if (size)
    show_in_last_row(*size, run_name_ + ": " + (total_ > 0 ? bar(record.iteration, total_) + "  " : "") + line);
  else
    output_.write(run_name_ + ": " + line + "\n");
  last_line_ = run_name_ + ": " + line;
  shown_s_ = now_();
  shown_step_ = step_;
  since_shown_ = 0;
  taken_s_ = 0;
  waiting_.reset();
}

void ProgressSink::show_in_last_row(TerminalSize size, const std::string& line) {
  std::string text;
  if (taken_ != size) {
    if (taken_) text += last_row::give_back(*taken_);  // the size of the terminal window has changed
    text += last_row::take(size);
    taken_ = size;
    last_row::note_taken(true);
  }
  output_.write(text + last_row::show(size, cut(line, size.columns - 1)));
}

void ProgressSink::leave_last_row() {
  if (!taken_) return;
  output_.write(last_row::give_back(*std::exchange(taken_, std::nullopt)));
  last_row::note_taken(false);
}

void ProgressSink::end() {
  if (const auto last = std::exchange(waiting_, std::nullopt)) show(*last);
  if (!taken_) return;
  leave_last_row();
  output_.write(last_line_ + "\n");
}

}  // namespace trainrt::metrics
