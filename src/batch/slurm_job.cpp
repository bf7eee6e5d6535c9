#include "batch/slurm_job.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/other_nodes.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/process/child_process.hpp"
#include "core/text/text.hpp"

namespace trainrt::batch {

namespace {

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Returns the value of `key` in a line " KEY1=value1 KEY2=value2 "; "" if the key is missing.
std::string field(std::string_view line, std::string_view key) {
  for (std::size_t at = 0; (at = line.find(key, at)) != std::string_view::npos; at += key.size()) {
    const auto end = at + key.size();
    if ((at == 0 || line[at - 1] == ' ') && end < line.size() && line[end] == '=')
      return std::string(line.substr(end + 1, line.find_first_of(" \n", end) - end - 1));
  }
  return {};
}

/// Returns whether `text` is not empty and has only characters of job numbers and host lists, so that it is safe to use in
/// a command.
bool is_plain(std::string_view text) {
  constexpr std::string_view others = "_-.,[]";
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || others.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

constexpr double max_query_s = 20;
constexpr int killed_by_signal = 128;  // a command that signal N killed has the exit code 128 + N
constexpr double max_save_s = 20;
constexpr double max_end_s = 60;

/// Runs a Slurm command and returns its output; "" if the command does not exist, fails, or takes longer than
/// `max_query_s`.
std::string ask(const std::vector<std::string>& command) {
  const auto answer = run_child(command, max_query_s);
  return answer && answer->exit_code == 0 ? answer->text : "";
}

/// Runs a Slurm command that changes the job. Returns its standard output and error; nullopt if the command takes longer
/// than `max_query_s`.
std::optional<ChildOutput> run(const std::vector<std::string>& command) {
  return run_child(command, max_query_s, ChildErrors::with_output);
}

/// Returns the reason why a Slurm command failed. `done` is the result of run() for this command.
std::string failure_of(const std::optional<ChildOutput>& done, std::string_view command) {
  if (!done) return fmt::format("{} gave no answer within {:.0f} s", command, max_query_s);
  return done->exit_code == 127 ? "scontrol was not found" : trim(done->text);
}

/// Returns the nodes of the Slurm job, each with its name and numbers of tasks and CPUs, from the job's environment
/// variables.
std::vector<Node> allocated_nodes(const Environment& environment) {
  const auto list = environment.text("SLURM_JOB_NODELIST").value_or("");
  if (!is_plain(list)) return {};
  const auto hosts = ask({"scontrol", "show", "hostnames", list});
  if (hosts.empty()) return {};
  const auto tasks = parse_tasks_per_node(environment.text("SLURM_TASKS_PER_NODE").value_or(""));
  const auto cpus = parse_tasks_per_node(environment.text("SLURM_JOB_CPUS_PER_NODE").value_or(""));
  std::vector<Node> nodes;
  for (auto& name : split(hosts, " \n")) {
    const auto index = nodes.size();
    const int tasks_here = index < tasks.size() ? tasks[index] : 1;
    nodes.push_back({.name = std::move(name), .tasks = tasks_here, .cpus = index < cpus.size() ? cpus[index] : tasks_here});
  }
  return nodes;
}

}  // namespace

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string task_id_of(const Environment& environment) {
  const auto array = environment.text("SLURM_ARRAY_JOB_ID").value_or("");
  const auto task = environment.text("SLURM_ARRAY_TASK_ID").value_or("");
  return is_number(array) && is_number(task) ? array + "_" + task : environment.text("SLURM_JOB_ID").value_or("");
}

std::optional<JobFacts> parse_job(std::string_view text) {
  const auto state = field(text, "JobState");
  const auto restarts = parse_integer(field(text, "Restarts"));
  if (state.empty() || !restarts) return std::nullopt;
  const auto if_any = [](std::string value) { return value == "(null)" ? std::string() : value; };
  return JobFacts{.state = state,
                  .reason = field(text, "Reason"),
                  .restarts = static_cast<int>(*restarts),
                  .nodes = if_any(field(text, "NodeList")),
                  .node_count = static_cast<int>(parse_integer(field(text, "NumNodes")).value_or(0)),
                  .tasks = static_cast<int>(parse_integer(field(text, "NumTasks")).value_or(0)),
                  .partition = field(text, "Partition"),
                  .requested_nodes = if_any(field(text, "ReqNodeList")),
                  .excluded_nodes = if_any(field(text, "ExcNodeList")),
                  .may_requeue = field(text, "Requeue") != "0"};
}

std::optional<JobLocation> parse_job_location(std::string_view text) {
  JobLocation location{.id = field(first_line(text), "JobId"), .work_dir = ""};
  if (!parse_integer(location.id)) return std::nullopt;
  for (const auto& line : split(text, "\n"))
    if (const auto words = trim(line); words.starts_with("WorkDir=")) location.work_dir = words.substr(8);
  return location;
}

JobLocation locate_job(const std::string& job) {
  const auto digits = job.substr(0, job.find('_')), task = job.substr(std::min(job.size(), digits.size() + 1));
  if (!is_number(digits) || (digits.size() < job.size() && !is_number(task)))
    throw UsageError(fmt::format("'{}' is not a job number. Valid: 4711, or 4711_3 for a task of an array", job));
  return parse_job_location(ask({"scontrol", "show", "job", job})).value_or(JobLocation{.id = job, .work_dir = ""});
}

std::map<std::string, bool> parse_node_states(std::string_view text, UnreadyNodes unready) {
  std::map<std::string, bool> healthy;
  for (const auto& line : split(text, "\n")) {
    const auto words = split(line, " ");
    if (words.size() != 2) continue;
    const auto& state = words[1];
    // sinfo adds these characters to a node state: * (does not respond), ~ (powered off), # (powering up), % (powering
    // down).
    const bool answers =
        unready == UnreadyNodes::usable || std::string_view("*~#%").find(state.back()) == std::string_view::npos;
    const bool usable =
        answers && !state.starts_with("down") && !state.starts_with("unknown") && !state.starts_with("error");
    healthy[words[0]] = usable;
  }
  return healthy;
}

std::vector<int> parse_tasks_per_node(std::string_view text) {
  std::vector<int> tasks;
  for (const auto& word : split(text, ",")) {
    const auto bracket = word.find("(x");
    const auto number = parse_integer(word.substr(0, bracket));
    std::optional<std::int64_t> count = 1;
    if (bracket != std::string::npos)
      count = word.back() == ')' ? parse_integer(word.substr(bracket + 2, word.size() - bracket - 3)) : std::nullopt;
    if (!number || !count || *number < 1 || *number > 1'000'000 || *count < 1 || *count > 1'000'000) return {};
    tasks.insert(tasks.end(), static_cast<std::size_t>(*count), static_cast<int>(*number));
  }
  return tasks;
}

std::vector<std::string> parse_steps(std::string_view text) {
  std::vector<std::string> steps;
  for (auto& name : split(text, " \n"))
    if (is_plain(name) && parse_integer(name.substr(name.rfind('.') + 1))) steps.push_back(std::move(name));
  return steps;
}

JobEnding job_ending(const JobEndingFacts& facts) {
  const auto& job = facts.job;
  const bool has_signal = facts.signal != 0;
  if (job && (job->restarts > facts.restart_count || job->state == "PENDING" || job->state == "REQUEUED"))
    return JobEnding::requeued;
  if (facts.cancel_reason == "TIME LIMIT" || (job && (job->reason == "TimeLimit" || job->state == "TIMEOUT")))
    return JobEnding::time_limit;
  if (!job) {
    if (!facts.cancel_reason.empty()) return JobEnding::requeued;
    if (facts.signal == SIGUSR1 || facts.signal == SIGUSR2) return JobEnding::stop_requested;
    return has_signal ? JobEnding::cancelled : JobEnding::none;
  }
  if (job->state != "RUNNING" && job->state != "SUSPENDED") return JobEnding::cancelled;
  // The user has ended the job by Ctrl-C (SIGINT) or by closing the terminal (SIGHUP).
  if (facts.signal == SIGINT || facts.signal == SIGHUP) return JobEnding::cancelled;
  return has_signal ? JobEnding::stop_requested : JobEnding::none;
}

bool requeue_succeeded(int exit_code, std::string_view text) {
  return exit_code == 0 || text.find("Job is pending execution") != std::string_view::npos;
}

std::optional<SlurmJob> SlurmJob::of(const Environment& environment) {
  const auto id = environment.text("SLURM_JOB_ID").value_or("");
  if (!is_plain(id)) return std::nullopt;
  SlurmJob job;
  job.id_ = id;
  job.task_id_ = task_id_of(environment);
  job.restart_count_ = environment.number("SLURM_RESTART_COUNT").value_or(0);
  job.tasks_ = environment.number("SLURM_NTASKS").value_or(0);
  job.allocated_ = allocated_nodes(environment);
  return job;
}

std::optional<JobFacts> SlurmJob::show() const {
  return parse_job(ask({"scontrol", "show", "job", "--oneliner", task_id_}));
}

std::vector<Node> SlurmJob::nodes(const std::optional<JobFacts>& facts, UnreadyNodes unready) const {
  auto nodes = allocated_;
  if (!facts || !is_plain(facts->nodes)) return nodes;
  const auto healthy = parse_node_states(
      ask({"sinfo", "--noheader", "--all", "--Node", "--nodes=" + facts->nodes, "--format=%N %T"}), unready);
  if (healthy.empty()) return nodes;
  for (auto& node : nodes) {
    const auto found = healthy.find(node.name);
    node.healthy = found != healthy.end() && found->second;
  }
  return nodes;
}

void SlurmJob::end_steps() const {
  const double start = monotonic_seconds();
  for (double asked = 0; monotonic_seconds() - start < max_end_s; std::this_thread::sleep_for(std::chrono::seconds(1))) {
    const auto steps = parse_steps(ask({"squeue", "--noheader", "--steps", "--jobs=" + id_, "--format=%i"}));
    if (steps.empty()) return;
    const bool may_save = monotonic_seconds() - start < max_save_s;
    if (may_save && asked > 0) continue;
    asked = monotonic_seconds();
    for (const auto& step : steps) ask({"scancel", may_save ? "--signal=USR1" : "--signal=KILL", step});
  }
}

std::string SlurmJob::requeue() const {
  const auto done = run({"scontrol", "requeue", task_id_});
  return done && requeue_succeeded(done->exit_code, done->text) ? "" : failure_of(done, "scontrol requeue");
}

std::string SlurmJob::no_other_nodes(const std::optional<JobFacts>& facts, std::span<const std::string> excluded) const {
  if (!facts || !is_plain(facts->partition)) return "Slurm does not report the job's partition";
  const auto text = ask(
      {"sinfo", "--noheader", "--Node", "--partition=" + facts->partition, "--format=" + std::string(partition_format)});
  if (text.empty()) return "sinfo does not answer";
  return why_no_other_nodes(*facts, parse_partition(text), excluded);
}

std::string SlurmJob::exclude(std::span<const std::string> nodes, const std::optional<JobFacts>& before) const {
  if (!before) return "Slurm does not report which nodes are already excluded";
  auto all = std::vector<std::string>(nodes.begin(), nodes.end());
  if (!before->excluded_nodes.empty()) all.push_back(before->excluded_nodes);
  const auto list = join(all, ",");
  if (!is_plain(list)) return fmt::format("'{}' is not a list of nodes", list);
  std::optional<ChildOutput> done;
  // Slurm may kill scontrol together with the other processes of the job. In this case, scontrol is run again.
  for (int tries_left = 3; tries_left > 0; --tries_left) {
    done = run({"scontrol", "update", "JobId=" + task_id_, "ExcNodeList=" + list});
    if (done && done->exit_code == 0) return {};
    if (!done || done->exit_code <= killed_by_signal) break;
  }
  return failure_of(done, "scontrol update");
}

}  // namespace trainrt::batch
