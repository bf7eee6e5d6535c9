// trainrt result: shows the state, metrics, checkpoints, attempts, times and resources of a run, or a table of several
// runs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/existing_path.hpp"
#include "cli/runs/comparison_table.hpp"
#include "cli/runs/read_runs.hpp"
#include "cli/runs/usage_table.hpp"
#include "cli/start/workers_text.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/table.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/records/point_words.hpp"
#include "view/summary/attempt_texts.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::cli::plugins {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view result_usage = "result RUN_DIR|STORAGE_PATH [--json]";

constexpr Example result_examples[] = {{"trainrt result runs/first", "one run"},
                                       {"trainrt result runs", "a table of all runs in a folder"}};

constexpr CommandOption result_options[] = {
    {"json", "", "print one JSON object, or an array of objects for a folder of runs"}};

constexpr ExitNote result_exit_codes[] = {{0, "done"},
                                          {64, "no such run directory"},
                                          {70, "a run directory could not be read, or the output could not be written"}};

void print_metrics(std::string_view title, const metrics::Record& record) {
  print_safely("{}, iteration {}\n", title, record.iteration);
  for (const auto& [key, value] : record.values)
    if (!key.starts_with("_")) std::visit([&](const auto& shown) { print_safely("  {:<20} {}\n", key, shown); }, value);
}

/// Prints the metrics of the best report, and the number of reports that were ignored because their score is NaN.
void print_best_metrics(const view::RunSummary& summary) {
  const auto attribute = summary.record.spec.find("checkpoint.score_attribute");
  if (attribute == summary.record.spec.end()) return;
  const auto given_order = summary.record.spec.find("checkpoint.score_order");
  const auto order = given_order == summary.record.spec.end() ? "max" : given_order->second;
  if (const auto* best = summary.best(); best != nullptr)
    print_metrics(fmt::format("best by {} ({})", attribute->second, order), *best);
  const auto is_nan = [&](const metrics::Record& report) {
    return std::isnan(report.number(attribute->second).value_or(0));
  };
  if (const auto count = std::ranges::count_if(summary.reports, is_nan); count > 0)
    print_safely("  {} of {} reports have NaN as {} and were ignored\n", count, summary.reports.size(), attribute->second);
}

/// Returns the names of the nodes. If there are many, returns the first name and how many further nodes there are.
std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t max_shown = 4;
  return nodes.size() <= max_shown ? fmt::format("{}", fmt::join(nodes, ","))
                                   : fmt::format("{} and {} more", nodes[0], nodes.size() - 1);
}

/// Prints a table of the attempts. It has a column for the version of trainrt if the attempts have different versions.
void print_attempts(const std::vector<rundir::AttemptRecord>& attempts, std::size_t attempt_count) {
  const bool with_version = std::ranges::adjacent_find(attempts, std::ranges::not_equal_to(),
                                                       &rundir::AttemptRecord::trainrt_version) != attempts.end();
  std::vector<Table::Column> columns = {{"no", true},   {"state"}, {"start"}, {"ranks", true}, {"nodes"},
                                        {"iterations"}, {"steps"}, {"saved"}, {"why it ended"}};
  if (with_version) columns.insert(columns.begin() + 3, {"trainrt"});
  Table table(std::move(columns));
  for (const auto& attempt : attempts) {
    std::vector<std::string> cells = {std::to_string(attempt.number),
                                      std::string(rundir::word_of(rundir::state_of(attempt))),
                                      attempt.start,
                                      std::to_string(attempt.ranks),
                                      nodes_text(attempt.nodes),
                                      view::iterations_of(attempt),
                                      view::steps_of(attempt),
                                      view::saved_point_of(attempt),
                                      first_line(attempt.why)};
    if (with_version)
      cells.insert(cells.begin() + 3, attempt.trainrt_version.empty() ? "unknown" : attempt.trainrt_version);
    table.add(std::move(cells));
  }
  const auto unreadable = attempt_count - attempts.size();
  print_safely("attempts{}\n{}",
               unreadable == 0 ? "" : fmt::format(" ({}, {} of them without a readable record)", attempt_count, unreadable),
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
      clock_text(forecast.left_s()), forecast.runs ? ", until " + utc_before(-forecast.left_s()) : " after the next start",
      clock_text(forecast.training_s), clock_text(forecast.saves_s), clock_text(forecast.repeated_s),
      clock_text(forecast.jobs_s), forecast.waits_known ? clock_text(forecast.waiting_s) : "unknown");
  if (const auto advice = rundir::advice_of(forecast); !advice.empty()) print_safely("  {}\n", advice);
}

void print_excluded_nodes(const std::vector<rundir::ExcludedNode>& excluded) {
  if (excluded.empty()) return;
  Table table({{"node"}, {"since attempt", true}, {"why it is excluded"}});
  for (const auto& node : excluded)
    table.add({node.node, node.since_attempt > 0 ? std::to_string(node.since_attempt) : "-", first_line(node.why)});
  print_safely("excluded nodes (for a new job: sbatch --exclude={}; recorded in {} in the run directory)\n{}",
               fmt::join(rundir::names_of(excluded), ","), rundir::excluded_nodes_name, table.text());
}

/// Prints warnings about checkpoints that are missing or will be deleted.
void print_warnings(const view::RunSummary& summary) {
  if (!summary.purge_warning.empty()) print_safely("WARNING     {}\n", summary.purge_warning);
  if (!summary.contradiction.empty())
    print_safely("WARNING     {}: the run cannot be continued until the missing files are restored\n",
                 summary.contradiction);
  else if (!summary.missing_end.empty())
    print_safely("WARNING     {}. The run is not finished; run the same command again to continue it\n",
                 summary.missing_end);
  using rundir::RunState;
  const bool has_ended = summary.state == RunState::finished || summary.state == RunState::stopped;
  if (!has_ended || summary.checkpoints.empty() || summary.reports.empty()) return;
  const auto& newest = summary.checkpoints.back();
  if (newest.iteration < summary.last()->iteration)
    print_safely("WARNING     the newest checkpoint, {}, is of iteration {}, but the last metrics are of iteration {}\n",
                 checkpoint::directory_name(newest.number), newest.iteration, summary.last()->iteration);
}

std::string state_text(const view::RunSummary& summary) {
  const auto next = view::next_start_text(summary.state, summary.attempts, utc_now());
  return std::string(rundir::word_of(summary.state)) + (next.empty() ? "" : "; " + next);
}

void print_run(const view::RunSummary& summary) {
  print_safely(
      "run         {} ({})\nstate       {}\ndirectory   {}\niterations  {}\n", summary.record.name,
      view::train_function_text(summary.record), state_text(summary), summary.run_dir,
      summary.is_silent() ? "unknown: the program does not report progress" : std::to_string(summary.reports.size()));
  if (const auto text = workers_text(summary); !text.empty()) print_safely("workers     {}\n", text);
  print_warnings(summary);
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

ExitCode result_of_folder(const std::string& folder, bool json) {
  const auto [runs, all_readable] = read_folder(folder);
  if (json) {
    auto all = Json::array();
    for (const auto& run : runs) all.push_back(view::as_json(run));
    print_json(all);
  } else {
    print_safely("{}", comparison_table(runs));
  }
  return all_readable ? ExitCode::finished : ExitCode::failed;
}

ExitCode result_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = result_options, .min_operands = 1, .max_operands = 1, .usage = result_usage});
  require_existing(arguments.operands[0]);
  const auto path = std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  if (!io::exists(std::filesystem::path(path) / "run.json")) return result_of_folder(path, arguments.has("json"));
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
    .group = CommandGroup::view,
    .order = 1,
    .usage = result_usage,
    .help = "show the state, metrics, checkpoints, attempts and times of a run",
    .examples = result_examples,
    .options = result_options,
    .notes =
        "For a folder of run directories, such as run.storage_path, shows a table of its runs: the keys of [loop] that "
        "differ, and the best metrics of each run by checkpoint.score_attribute, or else its last ones.\nStates of a run "
        "or an attempt:\n    running    its processes are running\n    finished   the training is complete, or a rule "
        "ended it early\n    stopped    saved and stopped on purpose; the same command continues it\n    failed     ended "
        "by an error\n    killed     its processes ended without recording why\n    starting   its program has been "
        "started, but has not opened the run\n    waiting    a trial of a sweep that has not started\n    paused     a "
        "trial of a sweep that was saved and will continue\n",
    .exit_codes = result_exit_codes,
    .run = result_command};

}  // namespace trainrt::cli::plugins
