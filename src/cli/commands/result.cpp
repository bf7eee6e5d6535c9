// How a run stands: state, last and best metrics, checkpoints, attempts.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "metrics/record_json.hpp"
#include "metrics/result_log.hpp"
#include "trainer/attempt.hpp"
#include "trainer/run_record.hpp"

namespace trainrt::cli::plugins {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view usage = "result RUN_DIR [--json]";

/// Everything that either form shows.
struct Standing {
  trainer::RunRecord record;
  std::vector<metrics::Record> reports;
  std::vector<checkpoint::Meta> checkpoints;
  std::vector<trainer::AttemptRecord> attempts;
  const metrics::Record* best = nullptr;  ///< by checkpoint.score_attribute
};

const metrics::Record* best_of(const Standing& standing) {
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

Json as_json(const std::string& run_dir, const Standing& standing) {
  Json attempts = Json::array();
  for (const auto& attempt : standing.attempts)
    attempts.push_back({{"attempt", attempt.number},
                        {"start", attempt.start},
                        {"end", attempt.end},
                        {"why", attempt.why},
                        {"ranks", attempt.ranks},
                        {"nodes", attempt.nodes},
                        {"first_step", attempt.first_step},
                        {"last_step", attempt.last_step},
                        {"job_id", attempt.owner.job_id}});
  Json checkpoints = Json::array();
  for (const auto& meta : standing.checkpoints)
    checkpoints.push_back({{"directory", run_dir + "/" + checkpoint::directory_name(meta.index)},
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
          {"attempts", attempts}};
}

void print_metrics(std::string_view title, const metrics::Record& record) {
  fmt::print("{} (iteration {})\n", title, record.iteration);
  for (const auto& [key, value] : record.values)
    if (!key.starts_with("_")) std::visit([&](const auto& shown) { fmt::print("  {:<20} {}\n", key, shown); }, value);
}

void print_text(const std::string& run_dir, const Standing& standing) {
  fmt::print("run         {} ({})\nstate       {}\ndirectory   {}\niterations  {}\n", standing.record.name,
             standing.record.function, standing.record.state, run_dir, standing.reports.size());
  if (!standing.reports.empty()) print_metrics("last metrics", standing.reports.back());
  if (standing.best != nullptr) print_metrics("best metrics", *standing.best);
  fmt::print("checkpoints\n");
  for (const auto& meta : standing.checkpoints)
    fmt::print("  {}  step {}  iteration {}  {}\n", checkpoint::directory_name(meta.index), meta.step, meta.iteration,
               meta.created);
  fmt::print("attempts\n");
  for (const auto& attempt : standing.attempts)
    fmt::print("  {}  {}  {} ranks on {}  steps {} to {}  {}\n", attempt.number, attempt.start, attempt.ranks,
               fmt::join(attempt.nodes, ","), attempt.first_step, attempt.last_step,
               attempt.why.empty() ? "runs, or was killed" : attempt.why);
}

ExitCode result_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(
      words,
      {.with_value = {}, .switches = {"json"}, .least_operands = 1, .most_operands = 1, .usage = std::string(usage)});
  const auto run_dir = std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  const auto record = trainer::read_run_record(run_dir);
  if (!record) throw UsageError(run_dir + " is no run directory: it has no run.json");
  Standing standing{*record, metrics::read_results(run_dir), checkpoint::list(run_dir), trainer::read_attempts(run_dir),
                    nullptr};
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
                     .usage = usage,
                     .help = "state, last and best metrics, checkpoints and attempts of a run",
                     .details = "--json prints one JSON object, for programs.\n",
                     .run = result_command};

}  // namespace trainrt::cli::plugins
