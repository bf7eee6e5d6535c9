// How a run stands: state, last and best metrics, checkpoints, attempts, and where its time went.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "cli/inspect/run_comparison.hpp"
#include "cli/inspect/usage_table.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/table.hpp"
#include "cli/words/arguments.hpp"
#include "cli/words/command.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/records/point_words.hpp"
#include "view/summary/attempt_texts.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::cli::plugins {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view result_usage = "result RUN_DIR|STORAGE_PATH [--json]";

void print_metrics(std::string_view title, const metrics::Record& record) {
  print_safely("{} (iteration {})\n", title, record.iteration);
  for (const auto& [key, value] : record.values)
    if (!key.starts_with("_")) std::visit([&](const auto& shown) { print_safely("  {:<20} {}\n", key, shown); }, value);
}

/// With a line for reports that cannot be the best since their score is NaN.
void print_best_metrics(const view::RunSummary& summary) {
  const auto attribute = summary.record.spec.find("checkpoint.score_attribute");
  if (attribute == summary.record.spec.end()) return;
  if (const auto* best = summary.best(); best != nullptr) print_metrics("best metrics", *best);
  const auto is_nan = [&](const metrics::Record& report) {
    return std::isnan(report.number(attribute->second).value_or(0));
  };
  if (const auto count = std::ranges::count_if(summary.reports, is_nan); count > 0)
    print_safely("  {} of {} reports have NaN as {} and were ignored\n", count, summary.reports.size(), attribute->second);
}

/// All names, or the first and how many there are.
std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t shown = 4;
  return nodes.size() <= shown ? fmt::format("{}", fmt::join(nodes, ","))
                               : fmt::format("{} and {} more", nodes[0], nodes.size() - 1);
}

void print_attempts(const std::vector<rundir::AttemptRecord>& attempts, std::size_t attempt_count) {
  Table table({{"no", true},
               {"state"},
               {"start"},
               {"ranks", true},
               {"nodes"},
               {"iterations"},
               {"steps"},
               {"saved"},
               {"why it ended"}});
  for (const auto& attempt : attempts)
    table.add({std::to_string(attempt.number), std::string(rundir::word_of(rundir::state_of(attempt))), attempt.start,
               std::to_string(attempt.ranks), nodes_text(attempt.nodes), view::iterations_of(attempt),
               view::steps_of(attempt), view::saved_point_of(attempt), first_line(attempt.why)});
  const auto unreadable = attempt_count - attempts.size();
  print_safely(
      "attempts{}\n{}",
      unreadable == 0 ? "" : fmt::format(" ({}, {} of them without a record that can be read)", attempt_count, unreadable),
      table.text());
}

std::vector<std::string> time_cells(const std::string& title, const rundir::TimeAccount& account) {
  std::vector<std::string> cells = {title};
  for (const double seconds : {account.waiting_s, account.startup_s, account.productive_s, account.checkpoint_s,
                               account.lost_s, account.shutdown_s, account.total_s()})
    cells.push_back(clock_text(seconds));
  cells.push_back(view::goodput_text(account));
  return cells;
}

std::vector<std::string> share_cells(const rundir::TimeAccount& account) {
  std::vector<std::string> cells = {"share"};
  const double total_s = account.total_s();
  for (const double seconds : {account.waiting_s, account.startup_s, account.productive_s, account.checkpoint_s,
                               account.lost_s, account.shutdown_s, total_s})
    cells.push_back(fmt::format("{:.1f} %", total_s > 0 ? 100 * seconds / total_s : 0));
  return cells;
}

void print_time(const view::RunSummary& summary) {
  Table table({{"attempt", true},
               {"waiting", true},
               {"start-up", true},
               {"productive", true},
               {"checkpoints", true},
               {"lost", true},
               {"shutdown", true},
               {"total", true},
               {"goodput", true}});
  for (std::size_t i = 0; i < summary.attempts.size(); ++i)
    table.add(time_cells(std::to_string(summary.attempts[i].number), summary.accounts[i]));
  const auto all = rundir::sum_of(summary.accounts);
  table.add(time_cells("all", all));
  table.add(share_cells(all));
  print_safely("time\n{}", table.text());
  for (const auto& line : view::notes_on_time(all)) print_safely("  {}\n", line);
}

void print_time_left(const rundir::Forecast& forecast) {
  print_safely(
      "time left\n  {}{}: training {}, saves {}, repeated after failures {}, starts and ends of jobs {}, in the queue {}\n",
      clock_text(forecast.left_s()),
      forecast.runs ? ", until " + utc_before(-forecast.left_s()) : " from the next start on",
      clock_text(forecast.training_s), clock_text(forecast.saves_s), clock_text(forecast.repeated_s),
      clock_text(forecast.jobs_s), forecast.waits_known ? clock_text(forecast.waiting_s) : "not known");
  if (const auto advice = rundir::advice_of(forecast); !advice.empty()) print_safely("  {}\n", advice);
}

void print_excluded_nodes(const std::vector<rundir::ExcludedNode>& excluded) {
  if (excluded.empty()) return;
  Table table({{"node"}, {"since attempt", true}, {"why it is left out"}});
  for (const auto& node : excluded)
    table.add({node.node, node.since_attempt > 0 ? std::to_string(node.since_attempt) : "-", first_line(node.why)});
  print_safely("excluded nodes (in a new job: sbatch --exclude={}; {} in the run directory keeps them)\n{}",
               fmt::join(rundir::names_of(excluded), ","), rundir::excluded_nodes_name, table.text());
}

/// What a run directory that lacks its end shows instead, which a copy of an older checkpoint does.
void print_what_is_missing(const view::RunSummary& summary) {
  if (!summary.purge_warning.empty()) print_safely("WARNING     {}\n", summary.purge_warning);
  if (!summary.contradiction.empty())
    print_safely("WARNING     {}: the same command again would be refused, until they are back\n", summary.contradiction);
  else if (!summary.missing_end.empty())
    print_safely("WARNING     {}. The run is not finished: the same command again continues it\n", summary.missing_end);
  using rundir::RunState;
  const bool is_over = summary.state == RunState::finished || summary.state == RunState::stopped;
  if (!is_over || summary.checkpoints.empty() || summary.reports.empty()) return;
  const auto& newest = summary.checkpoints.back();
  if (newest.iteration < summary.last()->iteration)
    print_safely("WARNING     the newest checkpoint, {}, holds iteration {}; the metrics shown are up to iteration {}\n",
                 checkpoint::directory_name(newest.number), newest.iteration, summary.last()->iteration);
}

void print_run(const view::RunSummary& summary) {
  print_safely(
      "run         {} ({})\nstate       {}\ndirectory   {}\niterations  {}\n", summary.record.name, summary.record.function,
      rundir::word_of(summary.state), summary.run_dir,
      summary.is_silent() ? "not known: the program does not report progress" : std::to_string(summary.reports.size()));
  print_what_is_missing(summary);
  if (summary.last() != nullptr) print_metrics("last metrics", *summary.last());
  print_best_metrics(summary);
  print_safely("checkpoints\n");
  for (const auto& meta : summary.checkpoints)
    print_safely("  {}  {}  {}\n", checkpoint::directory_name(meta.number),
                 rundir::point_in_words(meta.step, meta.iteration), meta.created);
  if (summary.mirror) print_safely("mirror\n  {}\n", rundir::in_words(*summary.mirror));
  print_attempts(summary.attempts, summary.attempt_count);
  print_excluded_nodes(summary.excluded_nodes);
  print_time(summary);
  print_safely("{}", usage_table(summary));
  if (summary.forecast) print_time_left(*summary.forecast);
}

// --- the runs of a folder ---------------------------------------------------------------------------------------------

/// A run that cannot be read is warned of and left out.
std::vector<view::RunSummary> summaries_of(const std::vector<std::string>& run_dirs) {
  std::vector<view::RunSummary> summaries;
  for (const auto& run_dir : run_dirs) try {
      summaries.push_back(view::summary_of(run_dir));
    } catch (const Error& error) {
      log::warning(fmt::format("{}: {}", run_dir, error.what()));
    }
  return summaries;
}

ExitCode result_of_storage(const std::string& storage, bool json) {
  const auto run_dirs = view::run_dirs_in(storage);
  if (run_dirs.empty())
    throw UsageError(storage + " is neither a run directory (run.json) nor a folder with run directories in it");
  const auto runs = summaries_of(run_dirs);
  if (json) {
    auto all = Json::array();
    for (const auto& run : runs) all.push_back(view::as_json(run));
    print_json(all);
  } else {
    print_safely("{}", comparison_of(runs));
  }
  return runs.size() == run_dirs.size() ? ExitCode::finished : ExitCode::failed;
}

ExitCode result_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {},
                                                 .switches = {"json"},
                                                 .least_operands = 1,
                                                 .most_operands = 1,
                                                 .usage = std::string(result_usage)});
  const auto path = std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  if (!io::exists(std::filesystem::path(path) / "run.json")) return result_of_storage(path, arguments.has("json"));
  const auto summary = view::summary_of(path);
  if (arguments.has("json"))
    print_json(view::as_json(summary));
  else
    print_run(summary);
  return ExitCode::finished;
}

}  // namespace

extern const Command result;
const Command result{
    .name = "result",
    .usage = result_usage,
    .help = "state, last and best metrics, checkpoints and attempts of a run, where its time went and what it used",
    .details =
        "Of a folder with run directories in it (run.storage_path): a table of its runs, with the [loop] keys that "
        "differ\nand each run's best metrics by checkpoint.score_attribute, or its last. --json prints one JSON "
        "object, or\nof several runs an array of them, for programs.\n"
        "\nA run or an attempt is running; finished (also if a rule ended it early); stopped (saved on purpose: the\n"
        "same command continues it); failed (by an error); or killed (its processes are gone and wrote no end). A\n"
        "run without an attempt is starting. A trial can also be waiting (not begun) or paused (saved, for now).\n",
    .run = result_command};

}  // namespace trainrt::cli::plugins
