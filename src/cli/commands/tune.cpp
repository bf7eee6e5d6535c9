// trainrt tune: a search over hyperparameters, whose trials are runs.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "batch/signals.hpp"
#include "batch/slurm_job.hpp"
#include "batch/verdict.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/config_file.hpp"
#include "cli/prepare_srun.hpp"
#include "cli/table.hpp"
#include "cli/train_call.hpp"
#include "core/environment.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "data/open_dataset.hpp"
#include "io/storage_retry.hpp"
#include "trainer/run.hpp"
#include "tune/sweep_run.hpp"

namespace trainrt::cli::plugins {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view tune_usage =
    "tune --config FILE [--section.key=value ...] | tune status DIR [--json|--csv|--watch] | tune best DIR [--json]";

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The tasks that the Slurm job has for trials; 0 outside a job.
struct Room {
  int tasks = 0, nodes = 1;
  int groups(int workers) const { return tasks == 0 ? 1 : std::max(tasks / workers, 1); }
  int nodes_of(int workers) const { return std::clamp((workers * nodes + tasks - 1) / tasks, 1, nodes); }
};

Room room_of(const Environment& environment) {
  if (environment.has("SLURM_STEP_NUM_TASKS"))
    throw UsageError(
        "trainrt tune starts srun itself: call it once, in the batch script, without srun in front (jobs/tune.sbatch)");
  if (!environment.has("SLURM_JOB_ID")) return {};
  return {std::max(environment.number("SLURM_NTASKS").value_or(1), 1),
          std::max(environment.number("SLURM_NNODES").value_or(1), 1)};
}

/// What starts the ranks of a trial: a step on a part of the job, else this program itself.
std::vector<std::string> starter(const tune::Sweep& sweep, const Room& room, const Environment& environment) {
  const auto ranks = std::to_string(sweep.workers());
  if (room.tasks == 0 && sweep.workers() == 1) return {own_program(), "run"};
  if (room.tasks == 0) return {own_program(), "run", "-n", ranks};
  // --mem=0: steps share the job's memory, else the first one takes all of it.
  std::vector<std::string> command{"/usr/bin/env",
                                   "srun",
                                   "--exact",
                                   "--mem=0",
                                   "--kill-on-bad-exit=0",
                                   "--wait=20",
                                   fmt::format("--nodes={}", room.nodes_of(sweep.workers())),
                                   "--ntasks=" + ranks};
  std::istringstream given(environment.text("TRAINRT_SRUN_ARGS").value_or(""));
  for (std::string word; given >> word;) command.push_back(word);
  command.push_back(own_program());
  command.emplace_back("run");
  return command;
}

/// A job that is not cancelled comes back, so that the sweep goes on by itself.
void bring_back(const Environment& environment, int max_requeues) {
  const auto job = batch::SlurmJob::of(environment);
  if (!job) return;
  const auto ending = batch::ending_of(
      {.signal = batch::stop_signal(), .due_to = "", .job = job->show(), .restart_count = job->restart_count()});
  if (ending == batch::Ending::for_good || ending == batch::Ending::returns) return;
  const auto error = job->restart_count() < max_requeues ? job->requeue() : "failure.max_requeues is reached";
  if (!error.empty()) log::info(fmt::format("job {} is not requeued: {}", job->task_id(), error));
}

/// What the config or the space has wrong is said before anything is made.
void check_trials(const tune::Sweep& sweep) {
  constexpr std::uint64_t most = 100;
  for (std::uint64_t trial = 0; trial < std::min(sweep.trials(), most); ++trial) {
    auto spec = config::make_run_spec(sweep.config_of(trial, sweep.params_of(trial)));
    take_declared(spec);
    if (trial > 0) continue;  // data and sinks, which are the same for most
    trainer::check_spec(spec);
    for (const auto& [name, options] : spec.data) static_cast<void>(data::list_dataset(name, options));
  }
}

ExitCode run_sweep(const Arguments& arguments) {
  if (!arguments.has("config")) throw UsageError("--config FILE is missing; usage: trainrt " + std::string(tune_usage));
  auto config = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) take_override(config, word);
  const tune::Sweep sweep(config);
  check_trials(sweep);
  const auto environment = Environment::of_process();
  const auto room = room_of(environment);
  if (room.tasks > 0) prepare_srun(environment);
  if (room.tasks > 0 && sweep.workers() > room.tasks)
    throw UsageError(fmt::format("tune.workers is {}, and the job has {} tasks: ask for more, sbatch --ntasks",
                                 sweep.workers(), room.tasks));
  const auto wanted = sweep.concurrent() > 0
                          ? std::min(sweep.concurrent(), room.tasks > 0 ? room.groups(sweep.workers()) : sweep.concurrent())
                          : room.groups(sweep.workers());
  const auto groups = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), sweep.trials()));
  batch::install_stop_signals();
  io::set_storage_timeout(config::make_run_spec(sweep.common_config()).failure.storage_timeout_s);
  if (const auto changed = sweep.begin(config_file_text(sweep.common_config())); !changed.empty()) log::info(changed);
  log::info(fmt::format("sweep in {}: {}, {} at once", sweep.directory(),
                        counted(static_cast<std::int64_t>(sweep.trials()), "trial"), groups));
  const auto code = tune::SweepRun(sweep, starter(sweep, room, environment)).run(groups);
  if (code == ExitCode::stopped) bring_back(environment, config::make_run_spec(sweep.common_config()).failure.max_requeues);
  log::info(code == ExitCode::stopped ? "the sweep has stopped; the same command goes on with it"
                                      : fmt::format("the sweep is complete: trainrt tune status {}", sweep.directory()));
  return code;
}

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
  for (const auto& [key, value] : rows.front().params) columns.push_back({short_name(key), true});
  for (const auto& title : {"reports", "last", "best"}) columns.push_back({title, true});
  columns.push_back({"why"});
  Table table(std::move(columns));
  std::map<std::string, int> states;
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.name, row.state};
    for (const auto& [key, value] : row.params) cells.push_back(value);
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

void print_csv(const std::vector<Row>& rows) {
  std::vector<std::string> titles{"trial", "state"};
  for (const auto& [key, value] : rows.front().params) titles.push_back(key);
  for (const auto& title : {"training_iteration", "last", "best", "attempts"}) titles.emplace_back(title);
  fmt::print("{}\n", join(titles, ","));
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.name, row.state};
    for (const auto& [key, value] : row.params) cells.push_back(csv_cell(value));
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

ExitCode show_status(const Arguments& arguments) {
  if (arguments.has("watch")) return watch(arguments.operands.at(1));
  const auto sweep = tune::Sweep::opened(arguments.operands.at(1));
  const auto rows = rows_of(sweep);
  if (arguments.has("json")) {
    auto all = Json::array();
    for (const auto& row : rows) all.push_back(as_json(sweep, row));
    fmt::print("{}\n", all.dump(2));
  } else if (arguments.has("csv")) {
    print_csv(rows);
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

ExitCode tune_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {"config"},
                                                 .switches = {"json", "csv", "watch"},
                                                 .most_operands = 2,
                                                 .overrides = true,
                                                 .usage = std::string(tune_usage)});
  if (arguments.operands.empty()) return run_sweep(arguments);
  const auto& what = arguments.operands.front();
  if ((what != "status" && what != "best") || arguments.operands.size() != 2)
    throw UsageError(fmt::format("'{}': usage: trainrt {}", what, tune_usage));
  return what == "status" ? show_status(arguments) : show_best(arguments);
}

}  // namespace

extern const Command tune;
const Command tune{
    .name = "tune",
    .usage = tune_usage,
    .help = "search over hyperparameters: trials of one config, several at once, without a server",
    .details =
        "FILE is a run's config with two sections more: [tune] names the metric, the number of trials and how they are\n"
        "chosen, [tune.space] what each trial sets: lr = loguniform(1e-4, 1e-1). A sweep is the directory\n"
        "run.storage_path/run.name; each trial is a run in it, with its output in trial_NNNNN.log.\n"
        "The same command goes on with a sweep that was stopped or killed; given several times, by tasks of a job array "
        "for\n"
        "example, its processes share the trials.\n"
        "In a Slurm job each trial is a step of tune.workers tasks; elsewhere a process here.\n"
        "status shows all trials, best the one with the best report.\n"
        "Exit codes: 0 all trials are over, 70 all have failed, 75 stopped: run the same command again.",
    .run = tune_command};

}  // namespace trainrt::cli::plugins
