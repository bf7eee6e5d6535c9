// Draws the ranks in the output of `trainrt top`, with a line or a character per rank.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/display_width.hpp"
#include "core/text/text.hpp"
#include "view/summary/attempt_texts.hpp"
#include "view/top/terminal_view.hpp"

namespace trainrt::view {

namespace {

/// The character that shows the state of a rank, or the worst state of several ranks.
struct Cell {
  char mark = '?';
  Paint paint = Paint::faint;
  int badness = 0;
  std::string_view meaning = "no record yet";
};

namespace kinds {
constexpr Cell ended{'e', Paint::faint, 0, "ended"}, unknown{'?', Paint::faint, 1, "no record yet"},
    training{'.', Paint::good, 2, "training"}, waiting{'w', Paint::busy, 3, "waiting in a collective"},
    saving{'c', Paint::busy, 4, "checkpoint"}, starting{'s', Paint::warning, 5, "starting or loading"},
    finishing{'f', Paint::warning, 6, "finishing"}, slow{'S', Paint::warning, 7, "slow"}, late{'!', Paint::bad, 8, "late"};
}  // namespace kinds

Cell cell_of(const std::optional<rundir::RankStatus>& rank, const rundir::AttemptRecord& attempt) {
  if (!rank) return kinds::unknown;
  if (rank->ended) return kinds::ended;
  const auto phase = phase_of(*rank, attempt);
  if (phase == "checkpoint") return kinds::saving;
  if (phase == "finishing") return kinds::finishing;
  if (phase != "training" && phase != "running") return kinds::starting;
  return rank->waits_in.empty() ? kinds::training : kinds::waiting;
}

std::vector<Cell> cells_of(const LiveStatus& run) {
  std::vector<Cell> cells;
  for (const auto& rank : run.ranks) cells.push_back(cell_of(rank, run.attempts.back()));
  if (run.is_over()) return cells;
  if (run.steps && run.steps->slow && run.steps->slow->rank < cells.size()) cells[run.steps->slow->rank] = kinds::slow;
  for (const auto& each : run.late) cells[each.rank] = kinds::late;
  return cells;
}

/// The ranks of a node.
struct Group {
  std::string name;
  std::vector<Cell> cells;
};

std::vector<Group> by_node(const LiveStatus& run, const std::vector<Cell>& cells) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> indices;
  for (std::size_t rank = 0; rank < cells.size(); ++rank) {
    const auto host = run.ranks[rank] ? plain_text(run.ranks[rank]->host) : std::string("?");
    const auto [index, is_new] = indices.emplace(host, groups.size());
    if (is_new) groups.push_back({host, {}});
    groups[index->second].cells.push_back(cells[rank]);
  }
  return groups;
}

Cell worst_of(std::span<const Cell> cells) { return *std::ranges::max_element(cells, {}, &Cell::badness); }

void add_cells(PaintedLine& line, std::span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size();) {
    auto end = i;
    std::string marks;
    for (; end < cells.size() && cells[end].paint == cells[i].paint; ++end) marks += cells[end].mark;
    line.add(marks, cells[i].paint);
    i = end;
  }
}

/// Draws the ranks grouped by node, several nodes per line. Returns an empty vector if the nodes need more than `rows`
/// lines.
std::vector<PaintedLine> node_lines(const std::vector<Group>& groups, std::size_t columns, std::size_t rows) {
  std::vector<PaintedLine> lines;
  for (const auto& group : groups) {
    const auto needed = display_width(group.name) + group.cells.size() + 4;
    if (lines.empty() || lines.back().columns() + needed > columns) lines.emplace_back("  ");
    if (needed + 2 > columns || lines.size() > rows) return {};
    lines.back().add(group.name + " ");
    add_cells(lines.back(), group.cells);
    lines.back().add("   ");
  }
  return lines;
}

/// Returns at most `rows` lines of characters. Each line starts with the number of its first rank. If necessary, a
/// character shows the worst state of several ranks.
std::vector<PaintedLine> folded_lines(std::vector<Cell> cells, std::size_t columns, std::size_t rows) {
  constexpr std::size_t label = 9;
  const auto width = std::max<std::size_t>(columns - std::min(columns, label + 1), 10);
  const auto fold = std::max<std::size_t>((cells.size() + width * rows - 1) / (width * rows), 1);
  std::vector<Cell> folded;
  for (std::size_t at = 0; at < cells.size(); at += fold)
    folded.push_back(worst_of(std::span(cells).subspan(at, std::min(fold, cells.size() - at))));
  std::vector<PaintedLine> lines;
  for (std::size_t at = 0; at < folded.size(); at += width) {
    lines.emplace_back(fmt::format("{:>7}  ", at * fold), Paint::faint);
    add_cells(lines.back(), std::span(folded).subspan(at, std::min(width, folded.size() - at)));
  }
  return lines;
}

/// Returns the meaning of each character in use, and the number of cells with this character.
PaintedLine legend_of(const std::vector<Cell>& cells) {
  std::map<int, std::pair<Cell, int>> counts;
  for (const auto& cell : cells) {
    auto& [kind, count] = counts[cell.badness];
    kind = cell;
    ++count;
  }
  PaintedLine line("  ");
  for (auto kind = counts.rbegin(); kind != counts.rend(); ++kind)
    line.add(std::string(1, kind->second.first.mark), kind->second.first.paint)
        .add(fmt::format(" {} {}   ", kind->second.first.meaning, kind->second.second));
  return line;
}

constexpr double old_s = 20;

/// Returns the seconds since the record of a rank was written; 0 if the run has ended.
double record_age_s(const LiveStatus& run, const rundir::RankStatus& rank) {
  return run.is_over() ? 0 : std::max(0.0, seconds_between(rank.time, run.now));
}

std::string age_text(double seconds) { return seconds < 60 ? fmt::format("{:.0f} s", seconds) : clock_text(seconds); }

/// Returns the range of the ages of the ranks' records: "records 0 to 12 s old". Returns "" if all ages are 0.
std::string ages_text(const LiveStatus& run) {
  std::vector<double> ages;
  for (const auto& rank : run.ranks)
    if (rank && !rank->ended) ages.push_back(record_age_s(run, *rank));
  if (ages.empty()) return {};
  const auto [min, max] = std::ranges::minmax(ages);
  return max > 0 ? fmt::format("records {:.0f} to {} old", min, age_text(max)) : "";
}

PaintedLine rank_line(const LiveStatus& run, std::size_t number, const Cell& cell, std::size_t host_columns) {
  PaintedLine line(fmt::format("  {:>5} ", number));
  line.add(std::string(1, cell.mark), cell.paint);
  const auto& rank = run.ranks[number];
  if (!rank) return line.add(" no record yet", Paint::faint);
  const auto& attempt = run.attempts.back();
  line.add(fmt::format(" {} {}", padded_to_width(plain_text(rank->host), host_columns),
                       padded_to_width(plain_text(phase_of(*rank, attempt)), 10)));
  if (rank->step > 0 || attempt.last_step > 0) line.add(fmt::format(" step {}", rank->step));
  if (rank->ended) return line.add("  ended");
  if (const auto age_s = record_age_s(run, *rank); age_s > 0)
    line.add(fmt::format("  {} ago", age_text(age_s)), age_s < old_s ? Paint::faint : Paint::warning);
  if (rank->rss >= 0) line.add("  " + byte_size(static_cast<std::uint64_t>(rank->rss)));
  if (rank->quiet_s >= 1) line.add(fmt::format("  no progress for {:.0f} s", rank->quiet_s));
  if (!rank->waits_in.empty()) line.add("  waits in " + rank->waits_in);
  return line;
}

std::vector<PaintedLine> lines_by_rank(const LiveStatus& run, const std::vector<Cell>& cells) {
  std::size_t width = 0;
  for (const auto& rank : run.ranks)
    if (rank) width = std::max(width, std::min<std::size_t>(display_width(plain_text(rank->host)), 24));
  std::vector<PaintedLine> lines;
  for (std::size_t rank = 0; rank < cells.size(); ++rank) lines.push_back(rank_line(run, rank, cells[rank], width));
  return lines;
}

/// Returns lines that describe the late ranks and the slow rank.
std::vector<PaintedLine> late_lines(const LiveStatus& run, std::size_t rows) {
  std::vector<PaintedLine> lines;
  const auto name = [&](std::size_t rank) {
    const bool is_known = rank < run.ranks.size() && run.ranks[rank];
    return fmt::format("  rank {}{}: ", rank, is_known ? " (" + run.ranks[rank]->host + ")" : "");
  };
  for (const auto& each : run.late) {
    if (lines.size() + 1 >= rows && run.late.size() > rows) {
      lines.emplace_back(fmt::format("  and {} more are late", run.late.size() - lines.size()), Paint::bad);
      break;
    }
    lines.emplace_back(name(each.rank) + each.why, Paint::bad);
  }
  if (run.steps && run.steps->slow && !run.is_over())
    lines.emplace_back(name(run.steps->slow->rank) + slow_rank_text(*run.steps->slow), Paint::warning);
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

std::vector<PaintedLine> grid_of(const LiveStatus& run, const std::vector<Cell>& cells, const Canvas& canvas,
                                 std::size_t rows) {
  if (cells.size() <= rows) return lines_by_rank(run, cells);
  auto legend = legend_of(cells);
  legend.add(ages_text(run), Paint::faint);
  auto lines = node_lines(by_node(run, cells), canvas.columns, rows - 1);
  if (lines.empty()) lines = folded_lines(cells, canvas.columns, std::max<std::size_t>(rows - 1, 1));
  lines.push_back(legend);
  return lines;
}

}  // namespace

std::vector<PaintedLine> rank_lines(const LiveStatus& run, const Canvas& canvas, std::size_t rows) {
  if (rows == 0 || run.attempts.empty()) return {};
  auto names = late_lines(run, std::max<std::size_t>(rows / 3, 2));
  if (run.ranks.empty()) {
    if (names.empty() && !run.is_over()) names.emplace_back("  no rank has written a record yet", Paint::faint);
    return names;
  }
  auto lines = grid_of(run, cells_of(run), canvas, std::max<std::size_t>(rows - std::min(rows, names.size()), 2));
  lines.insert(lines.end(), names.begin(), names.end());
  return lines;
}

}  // namespace trainrt::view
