#include "cli/sweep_results.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "core/text.hpp"
#include "tune/sweep_run.hpp"

namespace trainrt::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::uint64_t trial;
  std::string name, state, why;
  tune::Params params;
  tune::Trial record;
};

std::vector<Row> rows_of(const tune::Sweep& sweep) {
  const auto history = tune::history_of(sweep);
  std::vector<Row> rows;
  for (std::uint64_t trial = 0; trial < sweep.trials(); ++trial) {
    const auto known = history.trials().find(trial);
    Row row{trial, sweep.name_of(trial), "waiting", "", sweep.params_of(trial), {}};
    if (known != history.trials().end()) {
      row.record = known->second;
      row.name = sweep.name_of(trial, row.record.generation);
      row.state = tune::name_of(row.record.state);
      row.why = row.record.why;
      if (!row.record.params.empty()) row.params = row.record.params;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// As it was typed: a bare name is one of [loop].
std::string short_name(const std::string& key) { return key.starts_with("loop.") ? key.substr(5) : key; }

/// Without a value the trial does not set that key.
std::string value_of(const Row& row, const std::string& key, const std::string& none) {
  const auto found = row.params.find(key);
  return found == row.params.end() ? none : found->second;
}

std::string number_text(const std::optional<double>& number) { return number ? fmt::format("{:.6g}", *number) : "-"; }

Json as_json(const tune::Sweep& sweep, const Row& row) {
  Json json{{"trial", row.name}, {"path", sweep.directory() + "/" + row.name}, {"state", row.state}};
  for (const auto& [key, value] : row.params) json["config"][key] = value;
  json["metric"] = sweep.metric();
  json["last"] = row.record.last ? Json(*row.record.last) : Json(nullptr);
  json["best"] = row.record.best ? Json(*row.record.best) : Json(nullptr);
  json["training_iteration"] = row.record.iterations;
  json["attempts"] = row.record.attempt;
  if (!row.why.empty()) json["why"] = row.why;
  return json;
}

void print_table(const tune::Sweep& sweep, const std::vector<Row>& rows) {
  std::vector<Table::Column> columns{{"trial"}, {"state"}};
  for (const auto& dimension : sweep.space().dimensions()) columns.push_back({short_name(dimension.key), true});
  for (const auto& title : {"reports", "last", "best"}) columns.push_back({title, true});
  columns.push_back({"why"});
  Table table(std::move(columns));
  std::map<std::string, int> states;
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.name, row.state};
    for (const auto& dimension : sweep.space().dimensions()) cells.push_back(value_of(row, dimension.key, "-"));
    cells.push_back(std::to_string(row.record.iterations));
    cells.push_back(number_text(row.record.last));
    cells.push_back(number_text(row.record.best));
    cells.push_back(excerpt(row.why, 60));
    table.add(std::move(cells));
    ++states[row.state];
  }
  std::vector<std::string> counts;
  for (const auto& [state, count] : states) counts.push_back(fmt::format("{} {}", count, state));
  fmt::print("{} ({} of {}): {}\n{}", sweep.directory(), sweep.less_is_better() ? "least" : "most", sweep.metric(),
             join(counts), table.text(""));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void print_csv(const tune::Sweep& sweep, const std::vector<Row>& rows) {
  std::vector<std::string> titles{"trial", "state"};
  for (const auto& dimension : sweep.space().dimensions()) titles.push_back(dimension.key);
  for (const auto& title : {"training_iteration", "last", "best", "attempts"}) titles.emplace_back(title);
  fmt::print("{}\n", join(titles, ","));
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.name, row.state};
    for (const auto& dimension : sweep.space().dimensions()) cells.push_back(csv_cell(value_of(row, dimension.key, "")));
    cells.push_back(std::to_string(row.record.iterations));
    for (const auto& number : {row.record.last, row.record.best}) cells.push_back(number ? fmt::format("{}", *number) : "");
    cells.push_back(std::to_string(row.record.attempt));
    fmt::print("{}\n", join(cells, ","));
  }
}

/// The table, again and again, until every trial is over or a signal comes.
ExitCode watch(const std::string& directory) {
  constexpr auto pause = std::chrono::seconds(2);
  const std::string_view clear = isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" : "";
  for (;;) {
    const auto sweep = tune::Sweep::opened(directory);  // anew: it may have grown
    const auto rows = rows_of(sweep);
    fmt::print("{}", clear);
    print_table(sweep, rows);
    std::fflush(stdout);
    if (std::ranges::all_of(
            rows, [&](const auto& row) { return row.record.attempt > 0 && row.record.is_over(sweep.max_failures()); }))
      return ExitCode::finished;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

ExitCode show_status(const Arguments& arguments) {
  if (arguments.has("watch")) return watch(arguments.operands.at(1));
  const auto sweep = tune::Sweep::opened(arguments.operands.at(1));
  const auto rows = rows_of(sweep);
  if (arguments.has("json")) {
    auto all = Json::array();
    for (const auto& row : rows) all.push_back(as_json(sweep, row));
    fmt::print("{}\n", all.dump(2));
  } else if (arguments.has("csv")) {
    print_csv(sweep, rows);
  } else {
    print_table(sweep, rows);
  }
  return ExitCode::finished;
}

ExitCode show_best(const Arguments& arguments) {
  const auto sweep = tune::Sweep::opened(arguments.operands.at(1));
  const auto rows = rows_of(sweep);
  const Row* best = nullptr;
  for (const auto& row : rows)
    if (row.record.best && (best == nullptr || sweep.score_of(*row.record.best) > sweep.score_of(*best->record.best)))
      best = &row;
  if (best == nullptr)
    throw UsageError(fmt::format("no trial of the sweep in '{}' has reported '{}' yet", sweep.directory(), sweep.metric()));
  if (arguments.has("json")) {
    fmt::print("{}\n", as_json(sweep, *best).dump(2));
    return ExitCode::finished;
  }
  fmt::print("{} ({}): {} {}\n", best->name, best->state, sweep.metric(), number_text(best->record.best));
  for (const auto& [key, value] : best->params) fmt::print("  {} = {}\n", short_name(key), value);
  fmt::print("trainrt result {}/{}\n", sweep.directory(), best->name);
  return ExitCode::finished;
}

}  // namespace trainrt::cli
