// How a run stands: state, last and best metrics, checkpoints, attempts, and where its time went.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "core/text.hpp"
#include "metrics/record_json.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempt_files.hpp"
#include "rundir/goodput.hpp"
#include "rundir/run_evidence.hpp"
#include "rundir/run_record.hpp"

namespace trainrt::cli::plugins {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view result_usage = "result RUN_DIR [--json]";

/// Everything that either form shows.
struct RunState {
  rundir::RunRecord record;
  std::vector<metrics::Record> reports;
  std::vector<checkpoint::Meta> checkpoints;
  std::vector<rundir::AttemptRecord> attempts;
  std::vector<rundir::TimeAccount> accounts;  ///< of each attempt
  const metrics::Record* best = nullptr;      ///< by checkpoint.score_attribute
  std::string contradiction = {};             ///< what in the run directory cannot be; "" = nothing
  std::size_t attempt_count = 0;              ///< readable records or not
};

const metrics::Record* best_of(const RunState& standing) {
  const auto attribute = standing.record.spec.find("checkpoint.score_attribute");
  if (attribute == standing.record.spec.end()) return nullptr;
  const bool maximize = standing.record.spec.at("checkpoint.score_order") == "max";
  const metrics::Record* best = nullptr;
  double best_score = 0;
  for (const auto& report : standing.reports) {
    const auto* value = report.find(attribute->second);
    const auto* score = value != nullptr ? std::get_if<double>(value) : nullptr;
    if (score == nullptr || std::isnan(*score)) continue;
    if (best == nullptr || (maximize ? *score > best_score : *score < best_score)) {
      best = &report;
      best_score = *score;
    }
  }
  return best;
}

/// A run whose last attempt was killed, and that nobody has continued yet, still says that it runs.
void tell_killed_from_running(const std::string& run_dir, RunState& standing) {
  if (standing.attempts.empty()) return;
  auto& last = standing.attempts.back();
  if (!last.end.empty() || rundir::attempt_is_alive(run_dir, last)) return;
  last.end = last.seen.empty() ? last.start : last.seen;
  last.why = rundir::why_without_end(last.owner, {});
  standing.record.state = "killed";
}

Json as_json(const rundir::TimeAccount& account) {
  return {{"waiting_s", account.waiting_s},       {"startup_s", account.startup_s}, {"productive_s", account.productive_s},
          {"checkpoint_s", account.checkpoint_s}, {"lost_s", account.lost_s},       {"shutdown_s", account.shutdown_s},
          {"total_s", account.total_s()},         {"goodput", account.goodput()}};
}

Json as_json(const rundir::AttemptRecord& attempt, const rundir::TimeAccount& account) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"attempt", attempt.number},
          {"state", rundir::state_of(attempt)},
          {"start", attempt.start},
          {"end", or_null(attempt.end)},
          {"seen", or_null(attempt.seen)},
          {"why", or_null(attempt.why)},
          {"exit_code", attempt.exit_code < 0 ? Json() : Json(attempt.exit_code)},
          {"ranks", attempt.ranks},
          {"nodes", attempt.nodes},
          {"first_step", attempt.first_step},
          {"last_step", attempt.last_step},
          {"saved_step", attempt.saved_step < 0 ? Json() : Json(attempt.saved_step)},
          {"first_iteration", attempt.first_iteration},
          {"saved_iteration", attempt.saved_iteration < 0 ? Json() : Json(attempt.saved_iteration)},
          {"iteration", attempt.iteration},
          {"job_id", attempt.owner.job_id},
          {"restart_count", attempt.owner.restart_count},
          {"time", as_json(account)}};
}

Json as_json(const std::string& run_dir, const RunState& standing) {
  Json attempts = Json::array();
  for (std::size_t i = 0; i < standing.attempts.size(); ++i)
    attempts.push_back(as_json(standing.attempts[i], standing.accounts[i]));
  Json checkpoints = Json::array();
  for (const auto& meta : standing.checkpoints)
    checkpoints.push_back({{"directory", run_dir + "/" + checkpoint::directory_name(meta.number)},
                           {"iteration", meta.iteration},
                           {"step", meta.step}});
  const auto report = [](const metrics::Record* record) {
    return record != nullptr ? Json::parse(metrics::to_json(*record)) : Json();
  };
  return {{"name", standing.record.name},
          {"run_id", standing.record.run_id},
          {"state", standing.record.state},
          {"train_function", standing.record.function},
          {"config", standing.record.loop},
          {"path", run_dir},
          {"iterations", standing.reports.size()},
          {"metrics", report(standing.reports.empty() ? nullptr : &standing.reports.back())},
          {"best_metrics", report(standing.best)},
          {"checkpoints", checkpoints},
          {"contradiction", standing.contradiction.empty() ? Json() : Json(standing.contradiction)},
          {"attempts", attempts},
          {"attempt_count", standing.attempt_count},
          {"time", as_json(rundir::sum_of(standing.accounts))}};
}

void print_metrics(std::string_view title, const metrics::Record& record) {
  fmt::print("{} (iteration {})\n", title, record.iteration);
  for (const auto& [key, value] : record.values)
    if (!key.starts_with("_")) std::visit([&](const auto& shown) { fmt::print("  {:<20} {}\n", key, shown); }, value);
}

/// All names, or the first and how many there are.
std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t shown = 4;
  return nodes.size() <= shown ? fmt::format("{}", fmt::join(nodes, ","))
                               : fmt::format("{} and {} more", nodes[0], nodes.size() - 1);
}

void print_attempts(const std::vector<rundir::AttemptRecord>& attempts, std::size_t attempt_count) {
  Table table(
      {{"no", true}, {"state"}, {"start"}, {"ranks", true}, {"nodes"}, {"steps"}, {"saved", true}, {"why it ended"}});
  for (const auto& attempt : attempts)
    table.add({std::to_string(attempt.number), std::string(rundir::state_of(attempt)), attempt.start,
               std::to_string(attempt.ranks), nodes_text(attempt.nodes),
               fmt::format("{} to {}", attempt.first_step, attempt.last_step),
               attempt.saved_step < 0 ? "-" : std::to_string(attempt.saved_step), first_line(attempt.why)});
  const auto unreadable = attempt_count - attempts.size();
  fmt::print(
      "attempts{}\n{}",
      unreadable == 0 ? "" : fmt::format(" ({}, {} of them without a record that can be read)", attempt_count, unreadable),
      table.text());
}

std::vector<std::string> time_cells(const std::string& title, const rundir::TimeAccount& account) {
  std::vector<std::string> cells = {title};
  for (const double seconds : {account.waiting_s, account.startup_s, account.productive_s, account.checkpoint_s,
                               account.lost_s, account.shutdown_s, account.total_s()})
    cells.push_back(rundir::clock_text(seconds));
  cells.push_back(fmt::format("{:.1f} %", 100 * account.goodput()));
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

void print_time(const RunState& standing) {
  Table table({{"attempt", true},
               {"waiting", true},
               {"start-up", true},
               {"productive", true},
               {"checkpoints", true},
               {"lost", true},
               {"shutdown", true},
               {"total", true},
               {"goodput", true}});
  for (std::size_t i = 0; i < standing.attempts.size(); ++i)
    table.add(time_cells(std::to_string(standing.attempts[i].number), standing.accounts[i]));
  const auto all = rundir::sum_of(standing.accounts);
  table.add(time_cells("all", all));
  table.add(share_cells(all));
  fmt::print("time\n{}", table.text());
}

void print_text(const std::string& run_dir, const RunState& standing) {
  fmt::print("run         {} ({})\nstate       {}\ndirectory   {}\niterations  {}\n", standing.record.name,
             standing.record.function, standing.record.state, run_dir, standing.reports.size());
  if (!standing.contradiction.empty())
    fmt::print("WARNING     {}: the same command again would be refused, until they are back\n", standing.contradiction);
  if (!standing.reports.empty()) print_metrics("last metrics", standing.reports.back());
  if (standing.best != nullptr) print_metrics("best metrics", *standing.best);
  fmt::print("checkpoints\n");
  for (const auto& meta : standing.checkpoints)
    fmt::print("  {}  step {}  iteration {}  {}\n", checkpoint::directory_name(meta.number), meta.step, meta.iteration,
               meta.created);
  print_attempts(standing.attempts, standing.attempt_count);
  print_time(standing);
}

ExitCode result_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {},
                                                 .switches = {"json"},
                                                 .least_operands = 1,
                                                 .most_operands = 1,
                                                 .usage = std::string(result_usage)});
  const auto run_dir = std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  const auto record = rundir::read_run_record(run_dir);
  if (!record) throw UsageError(run_dir + " is no run directory: it has no run.json");
  RunState standing{*record, metrics::read_results(run_dir), checkpoint::list(run_dir), rundir::read_attempts(run_dir), {},
                    nullptr};
  tell_killed_from_running(run_dir, standing);
  standing.contradiction = rundir::contradiction_in(rundir::gather_evidence(run_dir));
  standing.attempt_count = std::max(rundir::numbers_of_attempts(run_dir).size(), standing.attempts.size());
  standing.accounts = rundir::accounts_of(standing.attempts);
  standing.best = best_of(standing);
  if (arguments.has("json"))
    fmt::print("{}\n", as_json(run_dir, standing).dump(2));
  else
    print_text(run_dir, standing);
  return ExitCode::finished;
}

}  // namespace

extern const Command result;
const Command result{.name = "result",
                     .usage = result_usage,
                     .help = "state, last and best metrics, checkpoints and attempts of a run, and where its time went",
                     .details = "--json prints one JSON object, for programs.\n",
                     .run = result_command};

}  // namespace trainrt::cli::plugins
