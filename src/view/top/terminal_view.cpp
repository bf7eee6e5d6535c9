#include "view/top/terminal_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/display_width.hpp"
#include "core/text/text.hpp"
#include "metrics/outputs/progress.hpp"
#include "view/summary/attempt_texts.hpp"

namespace trainrt::view {

namespace {

constexpr std::array<std::string_view, 7> paints = {"", "1", "2", "32", "36", "33", "1;31"};
constexpr std::array<std::string_view, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view ascii_blocks = "_.-~=+*#";

Paint paint_of_state(rundir::RunState state) {
  if (state == rundir::RunState::running || state == rundir::RunState::finished) return Paint::good;
  return rundir::went_wrong(state) ? Paint::bad : Paint::warning;
}

/// Returns `values`, or means of neighboring values if there are more values than columns.
std::vector<double> column_means(std::span<const double> values, std::size_t columns) {
  if (values.size() <= columns) return {values.begin(), values.end()};
  std::vector<double> means;
  for (std::size_t i = 0; i < columns; ++i) {
    double sum = 0, count = 0;
    for (const auto value :
         values.subspan(values.size() * i / columns, values.size() * (i + 1) / columns - values.size() * i / columns))
      if (std::isfinite(value)) sum += value, ++count;
    means.push_back(count > 0 ? sum / count : NAN);
  }
  return means;
}

std::string size_text(double bytes) {
  constexpr double max_bytes = 1e18;  // a record may contain any number
  return byte_size(static_cast<std::uint64_t>(std::min(bytes, max_bytes)));
}

void add_lines(std::vector<PaintedLine>& lines, std::vector<PaintedLine> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Number of rows of each section below the header.
struct PartRows {
  std::size_t metrics = 0, events = 0, ranks = 0;
};

PartRows part_rows(std::size_t rows) {
  const auto metrics = std::clamp<std::size_t>(rows / 4, 2, 16);
  const auto events = std::clamp<std::size_t>(rows / 4, 2, 16);
  return {metrics, events, rows - std::min(rows, metrics + events)};
}

}  // namespace

PaintedLine& PaintedLine::add(std::string_view text, Paint paint) {
  parts_.push_back({plain_text(text), paint});
  columns_ += display_width(parts_.back().text);
  return *this;
}

std::string PaintedLine::text(const Canvas& canvas) const {
  std::string text;
  std::size_t left = canvas.columns;
  for (const auto& part : parts_) {
    const auto shown = cut_to_width(canvas.is_utf8 ? part.text : ascii_of(part.text), left);
    left -= display_width(shown);
    const auto paint = paints.at(static_cast<std::size_t>(part.paint));
    text += canvas.in_color && !paint.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", paint, shown) : shown;
    if (left == 0) break;
  }
  return text;
}

std::string spark_line(std::span<const double> values, std::size_t columns, bool is_utf8) {
  const auto drawn = column_means(values, columns);
  double min = INFINITY, max = -INFINITY;
  for (const auto value : drawn)
    if (std::isfinite(value)) min = std::min(min, value), max = std::max(max, value);
  std::string line;
  for (const auto value : drawn) {
    const double share = max > min ? (value - min) / (max - min) : 0.5;
    const auto level = std::isfinite(share) ? static_cast<std::size_t>(std::clamp(share * 7.999, 0.0, 7.0)) : 0;
    if (!std::isfinite(value))
      line += ' ';
    else if (is_utf8)
      line += blocks.at(level);
    else
      line += ascii_blocks.at(level);
  }
  return line;
}

std::vector<PaintedLine> event_lines(const LiveStatus& run, std::size_t rows) {
  std::vector<PaintedLine> lines;
  const auto first = run.events.size() - std::min(run.events.size(), rows);
  for (const auto& event : std::span(run.events).subspan(first)) {
    const auto is_today = event.time.substr(0, 10) == run.now.substr(0, 10);
    lines.push_back(PaintedLine((is_today ? event.time.substr(11, 8) : event.time.substr(0, 10)) + "  ", Paint::faint)
                        .add(event.text, event.is_bad ? Paint::bad : Paint::plain));
  }
  return lines;
}

std::vector<std::string> terminal_view(const LiveStatus& run, const Canvas& canvas) {
  auto lines = header_lines(run, canvas);
  const auto add_part = [&](std::vector<PaintedLine> more, std::string_view title) {
    if (more.empty()) return;
    lines.emplace_back(title, Paint::faint);
    add_lines(lines, std::move(more));
  };
  const auto titles = std::size_t{3};
  const auto left_rows = canvas.rows - std::min(canvas.rows, lines.size() + titles);
  auto part = part_rows(left_rows);
  auto metrics = metric_lines(run, canvas, part.metrics);
  auto events = event_lines(run, part.events);
  part.ranks += part.metrics - metrics.size() + part.events - events.size();
  auto ranks = rank_lines(run, canvas, part.ranks);
  if (ranks.size() < part.ranks) metrics = metric_lines(run, canvas, metrics.size() + part.ranks - ranks.size());
  add_part(std::move(metrics), "metrics");
  add_part(std::move(ranks), "ranks");
  add_part(std::move(events), "events (UTC)");
  std::vector<std::string> texts;
  for (const auto& line : lines)
    if (texts.size() < canvas.rows) texts.push_back(line.text(canvas));
  return texts;
}

// --- functions that write the header ---

namespace {

PaintedLine title_line(const LiveStatus& run) {
  PaintedLine line(run.record.name, Paint::bold);
  if (const auto* ended = run.restarting(); ended != nullptr)
    line.add(ended->next_start->requeued ? "  requeued" : "  restarting", Paint::warning);
  else
    line.add("  ").add(rundir::word_of(run.state), paint_of_state(run.state));
  if (run.attempts.empty()) return line;
  const auto& last = run.attempts.back();
  line.add(fmt::format("  attempt {}  {} on {}", last.number, counted(last.ranks, "rank"),
                       counted(static_cast<std::int64_t>(last.nodes.size()), "node")));
  if (!last.owner.job_id.empty()) line.add("  job " + last.owner.job_id);
  if (is_utc(last.start)) {
    const auto& until = last.end.empty() ? run.now : last.end;
    line.add("  " + clock_text(seconds_between(last.start, until)));
  }
  return line;
}

/// The progress of a run. A `total` of 0 means that the total is unknown.
struct Progress {
  double done = 0, total = 0;
  std::string_view unit = "iteration";
};

Progress progress_of(const LiveStatus& run) {
  Progress progress;
  for (const auto& attempt : run.attempts)
    if (attempt.expected > 0) progress.total = attempt.expected;
  if (!run.reports.empty()) progress.done = static_cast<double>(run.reports.back().iteration);
  if (!run.attempts.empty() && run.attempts.back().silent && run.attempts.back().position)
    progress = {std::max(0.0, *run.attempts.back().position), progress.total, "position"};
  return progress;
}

PaintedLine bar_line(const LiveStatus& run, const Canvas& canvas) {
  const auto progress = progress_of(run);
  const bool is_silent = !run.attempts.empty() && !run.attempts.back().shows_progress();
  if (progress.total <= 0 && progress.done <= 0 && is_silent) return PaintedLine("the program does not report progress");
  const auto text = progress.total > 0 ? fmt::format(" {:3.0f}%  {} {:.12g} of {:.12g}",
                                                     std::floor(100 * std::min(progress.done / progress.total, 1.0)),
                                                     progress.unit, progress.done, progress.total)
                                       : fmt::format("{} {:.12g}", progress.unit, progress.done);
  if (progress.total <= 0) return PaintedLine(text);
  const auto columns = canvas.columns - std::min(canvas.columns, display_width(text) + 2);
  const auto width = std::min<std::size_t>(columns, 100);
  const auto filled = static_cast<std::size_t>(std::min(progress.done / progress.total, 1.0) * static_cast<double>(width));
  return PaintedLine("[")
      .add(std::string(filled, '#'), Paint::good)
      .add(std::string(width - filled, '-'), Paint::faint)
      .add("]")
      .add(text);
}

PaintedLine rate_line(const LiveStatus& run) {
  PaintedLine line;
  const auto add = [&](const std::string& text, Paint paint = Paint::plain) {
    if (!text.empty()) line.add(line.columns() > 0 ? "  " : "").add(text, paint);
  };
  if (const auto step = run.attempts.back().last_step; step > 0) add(fmt::format("step {}", step));
  add(metrics::rate(run.recent.steps, run.recent.seconds, "steps", "step"));
  add(metrics::rate(run.recent.iterations, run.recent.seconds, "iterations", "iteration"));
  if (run.forecast) add(rundir::brief(*run.forecast) + (run.is_over() ? " after it is continued" : ""), Paint::bold);
  return line;
}

/// Returns the resource usage in one line, or in two lines if the terminal is too narrow.
std::vector<PaintedLine> usage_lines(const LiveStatus& run, const Canvas& canvas) {
  const auto& usage = run.usage;
  if (run.is_over()) return {PaintedLine(fmt::format("peak memory {}", size_text(usage.peak_memory)))};
  auto node = fmt::format("memory {} (peak {})", size_text(usage.memory), size_text(usage.peak_memory));
  if (usage.cpus) node += fmt::format("  CPU {:.1f} of {:g}", *usage.cpus, usage.cpus_allowed.value_or(0));
  std::string others;
  if (usage.read_rate)
    others += fmt::format("read {}/s  written {}/s", size_text(*usage.read_rate), size_text(*usage.write_rate));
  if (usage.gpu) others += fmt::format("  GPU {:.0f} %", 100 * *usage.gpu);
  if (usage.gpu_memory.value_or(0) > 0) others += fmt::format(" with {}", size_text(*usage.gpu_memory));
  if (node.size() + others.size() + 2 <= canvas.columns) return {PaintedLine(node + "  " + others)};
  return {PaintedLine(node), PaintedLine(others)};
}

}  // namespace

std::vector<PaintedLine> header_lines(const LiveStatus& run, const Canvas& canvas) {
  std::vector<PaintedLine> lines = {title_line(run)};
  if (const auto next = next_start_text(run.state, run.attempts, run.now); !next.empty())
    lines.emplace_back(next, Paint::warning);
  if (const auto* ended = run.restarting(); ended != nullptr)
    lines.emplace_back(fmt::format("attempt {} ended: {}", ended->number, first_line(ended->why)),
                       paint_of_state(rundir::state_of(*ended)));
  else if (run.is_over() && run.why != rundir::word_of(run.state))
    lines.emplace_back(first_line(run.why), paint_of_state(run.state));
  lines.push_back(bar_line(run, canvas));
  if (run.attempts.empty()) return lines;
  if (auto rates = rate_line(run); rates.columns() > 0) lines.push_back(std::move(rates));
  if (run.forecast)
    if (const auto advice = rundir::advice_of(*run.forecast); !advice.empty()) lines.emplace_back(advice, Paint::warning);
  if (!run.ranks.empty()) add_lines(lines, usage_lines(run, canvas));
  return lines;
}

// --- functions that write the metrics ---

namespace {

constexpr std::array<std::string_view, 3> counted_elsewhere = {"epoch", "step", "iteration"};

/// Returns the names of the numeric values in the newest report. The runtime's own values and counters are left out.
/// The metric that ranks checkpoints is first.
std::vector<std::string> names_of(const LiveStatus& run) {
  std::vector<std::string> names;
  for (const auto& [key, value] : run.reports.back().values)
    if (!key.starts_with('_') && std::ranges::count(counted_elsewhere, key) == 0 && metrics::Record::real_of(value))
      names.push_back(key);
  const auto score = run.record.spec.find("checkpoint.score_attribute");
  if (score != run.record.spec.end())
    std::ranges::stable_partition(names, [&](const auto& name) { return name == score->second; });
  return names;
}

PaintedLine metric_line(const LiveStatus& run, const std::string& name, std::size_t name_columns, const Canvas& canvas) {
  constexpr std::size_t number_columns = 11, max_columns = 120;
  std::vector<double> values;
  for (const auto& report : run.reports) values.push_back(report.number(name).value_or(NAN));
  const auto used = name_columns + number_columns + 5;  // 5: blanks around the name and the number
  const auto columns = std::min(max_columns, canvas.columns - std::min(canvas.columns, used));
  return PaintedLine("  " + padded_to_width(plain_text(name), name_columns))
      .add(fmt::format(" {:>{}.5g}  ", values.back(), number_columns), Paint::bold)
      .add(spark_line(values, columns, canvas.is_utf8), Paint::busy);
}

}  // namespace

std::vector<PaintedLine> metric_lines(const LiveStatus& run, const Canvas& canvas, std::size_t rows) {
  if (run.reports.empty()) return {};
  auto names = names_of(run);
  const auto all = names.size();
  if (all > rows) names.resize(rows > 0 ? rows - 1 : 0);
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, display_width(plain_text(name)));
  width = std::min({width, std::size_t{30}, canvas.columns / 3});
  std::vector<PaintedLine> lines;
  for (const auto& name : names) lines.push_back(metric_line(run, name, width, canvas));
  if (lines.size() < all && rows > 0) lines.emplace_back(fmt::format("  and {} more", all - lines.size()), Paint::faint);
  return lines;
}

}  // namespace trainrt::view
