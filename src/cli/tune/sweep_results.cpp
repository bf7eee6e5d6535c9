#include "cli/tune/sweep_results.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/result_grid.hpp>

#include "cli/terminal/print.hpp"
#include "cli/terminal/table.hpp"
#include "core/short_number.hpp"
#include "core/spreadsheet.hpp"
#include "core/text/json_number.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/records/run_state.hpp"
#include "tune/trials/shown_params.hpp"

namespace trainrt::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the key as users write it: without "loop." for keys of [loop].
std::string short_name(const std::string& key) { return key.starts_with("loop.") ? key.substr(5) : key; }

/// Returns all keys that trials set. A trial need not set all of them.
std::set<std::string> keys_of(const ResultGrid& grid) {
  std::set<std::string> keys;
  for (const auto& trial : grid)
    if (!tune::is_without_values(trial.config))
      for (const auto& [key, value] : trial.config) keys.insert(key);
  return keys;
}

std::string value_of(const TrialResult& trial, const std::string& key, const std::string& missing) {
  const auto found = trial.config.find(key);
  return found == trial.config.end() ? missing : found->second;
}

std::string number_text(const std::optional<double>& number) { return number ? fmt::format("{:.6g}", *number) : "-"; }

Json as_json(const ResultGrid& grid, const TrialResult& trial) {
  Json json{{"trial", trial.name}, {"path", trial.path}, {"state", trial.state}, {"config", Json::object()}};
  for (const auto& [key, value] : trial.config) json["config"][key] = value;
  json["metric"] = grid.metric;
  json["last"] = trial.last ? json_of_number(*trial.last) : Json(nullptr);
  json["best"] = trial.best ? json_of_number(*trial.best) : Json(nullptr);
  json["training_iteration"] = trial.training_iteration;
  json["attempts"] = trial.attempts;
  if (!trial.why.empty()) json["why"] = trial.why;
  return json;
}

/// Returns the reason for the end of a trial. Removes the beginning "the program of rank 0 on n1 (train.program,
/// process 7) failed: ", so that the error itself fits into the table.
std::string cause_of(const TrialResult& trial) {
  constexpr std::string_view place = " (train.program, process ", verb = "failed: ";
  const auto at = trial.why.find(place);
  const auto end = at == std::string::npos ? at : trial.why.find(") ", at + place.size());
  if (!trial.why.starts_with("the program of rank ") || end == std::string::npos) return trial.why;
  const auto cause = trial.why.substr(end + 2);
  return cause.starts_with(verb) ? cause.substr(verb.size()) : cause;
}

/// Returns the cause of the end of a trial for a column of the table: shortened, but with the complete path of its log.
std::string shown_cause(const TrialResult& trial) {
  constexpr std::size_t max_bytes = 60;
  const auto cause = cause_of(trial);
  const auto path = std::min(cause.rfind("; see /"), cause.size());
  return excerpt(std::string_view(cause).substr(0, path), max_bytes) + cause.substr(path);
}

/// Returns a line with the file that has the complete error of the first failed trial, or "".
std::string error_file_line(const ResultGrid& grid) {
  for (const auto& trial : grid)
    if (const auto file = trial.path + "/error.txt";
        trial.state == rundir::word_of(rundir::RunState::failed) && io::exists(file))
      return fmt::format("The complete error of {} is in {}\n", trial.name, file);
  return {};
}

std::string header_of(const ResultGrid& grid) {
  std::map<std::string, int> states;
  for (const auto& trial : grid) ++states[trial.state];
  std::vector<std::string> counts;
  for (const auto& [state, count] : states) counts.push_back(fmt::format("{} {}", count, state));
  const auto compared =
      grid.metric.empty() ? "" : fmt::format(" ({} of {})", grid.mode == "min" ? "lowest" : "highest", grid.metric);
  return fmt::format("{}{}: {}\n", grid.path, compared, join(counts));
}

void print_table(const ResultGrid& grid) {
  std::vector<Table::Column> columns{{"trial"}, {"state"}};
  const auto keys = keys_of(grid);
  for (const auto& key : keys) columns.push_back({short_name(key), true});
  for (const auto& title : {"reports", "last", "best"}) columns.push_back({title, true});
  columns.push_back({"why"});
  Table table(std::move(columns));
  for (const auto& trial : grid) {
    std::vector<std::string> cells{trial.name, trial.state};
    for (const auto& key : keys) cells.push_back(short_number(value_of(trial, key, "-")));
    cells.push_back(std::to_string(trial.training_iteration));
    cells.push_back(number_text(trial.last));
    cells.push_back(number_text(trial.best));
    cells.push_back(shown_cause(trial));
    table.add(std::move(cells));
  }
  print_safely("{}{}{}", header_of(grid), table.text(""), error_file_line(grid));
}

/// Returns a cell of a CSV table, quoted if necessary, that a spreadsheet does not interpret as a formula.
std::string csv_cell(const std::string& value) {
  const auto text = guarded_cell(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void print_csv(const ResultGrid& grid) {
  const auto keys = keys_of(grid);
  std::vector<std::string> titles{"trial", "state"};
  std::ranges::transform(keys, std::back_inserter(titles), csv_cell);
  for (const auto& title : {"training_iteration", "last", "best", "attempts"}) titles.emplace_back(title);
  print_safely("{}\n", join(titles, ","));
  for (const auto& trial : grid) {
    std::vector<std::string> cells{csv_cell(trial.name), trial.state};
    for (const auto& key : keys) cells.push_back(csv_cell(value_of(trial, key, "")));
    cells.push_back(std::to_string(trial.training_iteration));
    for (const auto& number : {trial.last, trial.best}) cells.push_back(number ? fmt::format("{}", *number) : "");
    cells.push_back(std::to_string(trial.attempts));
    print_safely("{}\n", join(cells, ","));
  }
}

/// Prints the table repeatedly until all trials are done, or a signal ends the process.
ExitCode watch(const std::string& directory) {
  constexpr auto pause = std::chrono::seconds(2);
  const std::string_view clear = isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" : "";
  for (;;) {
    const auto grid = ResultGrid::from_path(directory);
    fmt::print("{}", clear);
    print_table(grid);
    std::fflush(stdout);
    if (std::ranges::all_of(grid, &TrialResult::is_over)) return ExitCode::finished;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

ExitCode show_status(const Arguments& arguments) {
  if (arguments.has("watch")) return watch(arguments.operands.at(1));
  const auto grid = ResultGrid::from_path(arguments.operands.at(1));
  if (arguments.has("json")) {
    auto all = Json::array();
    for (const auto& trial : grid) all.push_back(as_json(grid, trial));
    print_json(all);
  } else if (arguments.has("csv")) {
    print_csv(grid);
  } else {
    print_table(grid);
  }
  return ExitCode::finished;
}

ExitCode show_best(const Arguments& arguments) {
  const auto grid = ResultGrid::from_path(arguments.operands.at(1));
  const auto& best = grid.get_best_result();
  if (arguments.has("json")) {
    print_json(as_json(grid, best));
    return ExitCode::finished;
  }
  print_safely("{} ({}): {} {}\n", best.name, best.state, grid.metric, number_text(best.best));
  for (const auto& [key, value] : best.config) print_safely("  {} = {}\n", short_name(key), value);
  print_safely("Details: trainrt result {}\n", shell_quoted(best.path));
  const auto lacks_number = [](const TrialResult& trial) { return trial.training_iteration > 0 && !trial.best; };
  if (const auto count = std::ranges::count_if(grid, lacks_number); count > 0)
    print_safely("{} of {} trials reported no {}, or only NaN, and were ignored\n", count, grid.trials.size(), grid.metric);
  return ExitCode::finished;
}

}  // namespace trainrt::cli
