#include "view/page/time_section.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text/text.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/table.hpp"
#include "view/summary/attempt_texts.hpp"

namespace trainrt::view::page {

namespace {

constexpr std::size_t max_bars = 40, max_attempts = 400;

struct TimeUse {
  std::string_view name;
  double rundir::TimeAccount::*seconds;
};
constexpr std::array<TimeUse, 6> parts = {{{"waiting", &rundir::TimeAccount::waiting_s},
                                           {"start-up", &rundir::TimeAccount::startup_s},
                                           {"productive", &rundir::TimeAccount::productive_s},
                                           {"checkpoints", &rundir::TimeAccount::checkpoint_s},
                                           {"lost", &rundir::TimeAccount::lost_s},
                                           {"shutdown", &rundir::TimeAccount::shutdown_s}}};

std::vector<Cell> time_cells(const std::string& title, const rundir::TimeAccount& account) {
  std::vector<Cell> cells = {header_cell(title)};
  for (const auto& part : parts) cells.push_back(duration_cell(account.*part.seconds));
  cells.push_back(duration_cell(account.total_s()));
  const auto goodput = account.goodput();
  cells.push_back(goodput ? share_cell(goodput) : text_cell("unknown"));
  return cells;
}

Markup time_table(const RunSummary& run, const rundir::TimeAccount& all) {
  TableModel model{.caption = "use of the wall time", .columns = {{"attempt"}}, .rows = {}};
  for (const auto& part : parts) model.columns.push_back({std::string(part.name), true});
  model.columns.insert(model.columns.end(), {{"total", true}, {"goodput", true}});
  model.rows.push_back(time_cells("all", all));
  std::vector<Cell> shares = {header_cell("share")};
  for (const auto& part : parts) shares.push_back(share_cell(all.total_s() > 0 ? all.*part.seconds / all.total_s() : 0));
  model.rows.push_back(std::move(shares));
  const auto from = run.attempts.size() - std::min(run.attempts.size(), max_attempts);
  for (auto i = from; i < run.attempts.size(); ++i)
    model.rows.push_back(time_cells(std::to_string(run.attempts[i].number), run.accounts[i]));
  return table(model);
}

std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t shown = 4;
  return nodes.size() <= shown ? fmt::format("{}", fmt::join(nodes, ", "))
                               : fmt::format("{} and {} more", nodes[0], nodes.size() - 1);
}

/// Returns a UTC time as "2026-11-24 20:17:01", which can be broken into two lines; "-" for "".
std::string time_text(std::string time) {
  if (time.empty()) return "-";
  std::ranges::replace(time, 'T', ' ');
  if (time.ends_with('Z')) time.pop_back();
  return time;
}

std::vector<Cell> attempt_cells(const rundir::AttemptRecord& attempt) {
  return {{.shown = text(std::to_string(attempt.number)), .value = attempt.number, .is_header = true},
          {.shown = state_label(rundir::state_of(attempt))},
          text_cell(time_text(attempt.start)),
          text_cell(time_text(attempt.end)),
          count_cell(attempt.ranks),
          text_cell(nodes_text(attempt.nodes)),
          text_cell(iterations_of(attempt)),
          text_cell(steps_of(attempt)),
          text_cell(saved_point_of(attempt)),
          attempt.exit_code < 0 ? text_cell("-") : count_cell(attempt.exit_code),
          text_cell(attempt.owner.job_id.empty() ? "-" : attempt.owner.job_id),
          text_cell(excerpt(first_line(attempt.why), 400))};
}

}  // namespace

Markup time_bar(const rundir::TimeAccount& account) {
  constexpr double width = 1000, height = 20;
  const double total = account.total_s();
  Markup rectangles;
  double at = 0;
  for (std::size_t i = 0; i < parts.size() && total > 0; ++i) {
    const double seconds = account.*parts[i].seconds, wide = width * seconds / total;
    if (!(wide > 0)) continue;
    rectangles +=
        element("rect",
                {{"class", fmt::format("part p{}", i)},
                 {"x", fmt::format("{:.2f}", at)},
                 {"y", "0"},
                 {"width", fmt::format("{:.2f}", wide)},
                 {"height", fmt::format("{}", height)}},
                element("title", {},
                        fmt::format("{}: {}, {}", parts[i].name, duration_text(seconds), share_text(seconds / total))));
    at += wide;
  }
  return element("svg",
                 {{"class", "bar"},
                  {"viewBox", fmt::format("0 0 {} {}", width, height)},
                  {"preserveAspectRatio", "none"},
                  {"role", "img"},
                  {"aria-label", "goodput " + goodput_text(account)}},
                 rectangles);
}

Markup bar_row(const std::string& title, const rundir::TimeAccount& account) {
  auto row = element("span", {{"class", "bar-title"}}, title);
  row += time_bar(account);
  row += element("span", {{"class", "bar-figure"}}, goodput_text(account));
  return element("div", {{"class", "bar-row"}}, row);
}

Markup time_legend() {
  Markup items;
  for (std::size_t i = 0; i < parts.size(); ++i) items += element("li", {{"class", fmt::format("p{}", i)}}, parts[i].name);
  return element("ul", {{"class", "legend parts"}}, items);
}

Section time_section(const RunSummary& run) {
  Section section{.id = "time", .title = "Use of time", .content = {}};
  if (run.attempts.empty()) return section;
  const auto all = rundir::sum_of(run.accounts);
  auto bars = bar_row("all", all);
  const auto from = run.attempts.size() - std::min(run.attempts.size(), max_bars);
  if (run.attempts.size() > 1)
    for (auto i = from; i < run.attempts.size(); ++i)
      bars += bar_row(fmt::format("attempt {}", run.attempts[i].number), run.accounts[i]);
  section.content += time_legend();
  section.content += element("div", {{"class", "bars"}}, bars);
  for (const auto& note : notes_on_time(all)) section.content += paragraph(note, "note");
  section.content += time_table(run, all);
  return section;
}

Section attempt_section(const RunSummary& run) {
  Section section{.id = "attempts", .title = "Attempts", .content = {}};
  if (run.attempts.empty()) return section;
  TableModel model{.caption = "attempts",
                   .columns = {{"attempt"},
                               {"state"},
                               {"start (UTC)"},
                               {"end (UTC)"},
                               {"ranks", true},
                               {"nodes"},
                               {"iterations"},
                               {"steps"},
                               {"saved"},
                               {"exit code", true},
                               {"job"},
                               {"reason for the end"}},
                   .rows = {},
                   .can_be_sorted = true,
                   .wraps = true};
  const auto from = run.attempts.size() - std::min(run.attempts.size(), max_attempts);
  for (auto i = from; i < run.attempts.size(); ++i) model.rows.push_back(attempt_cells(run.attempts[i]));
  section.content += table(model);
  if (const auto unreadable = run.attempt_count - run.attempts.size(); unreadable > 0)
    section.content +=
        paragraph(fmt::format("The records of {} of {} attempts cannot be read.", unreadable, run.attempt_count), "note");
  if (from > 0) section.content += paragraph(fmt::format("{} older attempts are not shown.", from), "note");
  return section;
}

}  // namespace trainrt::view::page
