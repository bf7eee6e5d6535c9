#include "batch/slurm_job.hpp"

#include <algorithm>
#include <array>
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

/// The value of " KEY=value ", "" if there is none.
std::string field(std::string_view line, std::string_view key) {
  for (std::size_t at = 0; (at = line.find(key, at)) != std::string_view::npos; at += key.size()) {
    const auto end = at + key.size();
    if ((at == 0 || line[at - 1] == ' ') && end < line.size() && line[end] == '=')
      return std::string(line.substr(end + 1, line.find_first_of(" \n", end) - end - 1));
  }
  return {};
}

/// A job number or a list of hosts: nothing that a shell or Slurm could take for more.
bool is_plain(std::string_view text) {
  constexpr std::string_view others = "_-.,[]";
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || others.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

constexpr double longest_question_s = 20;
constexpr int killed_by_signal = 128;  // and the signal's number
constexpr double steps_save_within_s = 20;
constexpr double steps_end_within_s = 60;

/// What a Slurm command answers; "" if it is not there, fails, or takes too long.
std::string ask(const std::vector<std::string>& command) {
  const auto answer = run_child(command, longest_question_s);
  return answer && answer->exit_code == 0 ? answer->text : "";
}

/// Names and tasks of the nodes that the job was given.
std::vector<Node> given_nodes(const Environment& environment) {
  const auto list = environment.text("SLURM_JOB_NODELIST").value_or("");
  if (!is_plain(list)) return {};
  const auto hosts = ask({"scontrol", "show", "hostnames", list});
  if (hosts.empty()) return {};
  const auto tasks = parse_tasks_per_node(environment.text("SLURM_TASKS_PER_NODE").value_or(""));
  std::vector<Node> nodes;
  for (auto& name : split(hosts, " \n")) {
    const auto index = nodes.size();
    nodes.push_back({.name = std::move(name), .tasks = index < tasks.size() ? tasks[index] : 1});
  }
  return nodes;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

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
                  .wanted_nodes = if_any(field(text, "ReqNodeList")),
                  .excluded_nodes = if_any(field(text, "ExcNodeList")),
                  .may_requeue = field(text, "Requeue") != "0"};
}

std::optional<JobPlace> parse_job_place(std::string_view text) {
  JobPlace place{.id = field(first_line(text), "JobId"), .work_dir = ""};
  if (!parse_integer(place.id)) return std::nullopt;
  for (const auto& line : split(text, "\n"))
    if (const auto words = trim(line); words.starts_with("WorkDir=")) place.work_dir = words.substr(8);
  return place;
}

JobPlace place_of_job(const std::string& job) {
  const auto digits = job.substr(0, job.find('_')), task = job.substr(std::min(job.size(), digits.size() + 1));
  const auto is_number = [](const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (!is_number(digits) || (digits.size() < job.size() && !is_number(task)))
    throw UsageError(fmt::format("'{}' is no number of a job, such as 4711, or 4711_3 for a task of an array", job));
  const auto told = parse_job_place(ask({"scontrol", "show", "job", job}));
  return told ? *told : JobPlace{.id = job, .work_dir = ""};
}

std::map<std::string, bool> parse_node_states(std::string_view text) {
  std::map<std::string, bool> healthy;
  for (const auto& line : split(text, "\n")) {
    const auto words = split(line, " ");
    if (words.size() != 2) continue;
    const auto& state = words[1];
    // * no answer, ~ powered off, # powering up, % powering down
    const bool usable = std::string_view("*~#%").find(state.back()) == std::string_view::npos &&
                        !state.starts_with("down") && !state.starts_with("unknown") && !state.starts_with("error");
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

Ending ending_of(const EndingFacts& facts) {
  const auto& job = facts.job;
  const bool asked = facts.signal != 0;
  if (job && (job->restarts > facts.restart_count || job->state == "PENDING" || job->state == "REQUEUED"))
    return Ending::returns;
  if (facts.due_to == "TIME LIMIT" || (job && (job->reason == "TimeLimit" || job->state == "TIMEOUT")))
    return Ending::time_is_over;
  if (!job) {
    if (!facts.due_to.empty()) return Ending::returns;
    if (facts.signal == SIGUSR1 || facts.signal == SIGUSR2) return Ending::stop_asked;
    return asked ? Ending::for_good : Ending::none;
  }
  if (job->state != "RUNNING" && job->state != "SUSPENDED") return Ending::for_good;
  if (facts.signal == SIGINT || facts.signal == SIGHUP) return Ending::for_good;  // a person at the terminal
  return asked ? Ending::stop_asked : Ending::none;
}

bool requeue_succeeded(int exit_code, std::string_view text) {
  return exit_code == 0 || contains(text, "Job is pending execution");
}

std::optional<SlurmJob> SlurmJob::of(const Environment& environment) {
  const auto id = environment.text("SLURM_JOB_ID").value_or("");
  if (!is_plain(id)) return std::nullopt;
  SlurmJob job;
  job.id_ = id;
  job.task_id_ = id;
  const auto array = environment.text("SLURM_ARRAY_JOB_ID").value_or("");
  const auto task = environment.text("SLURM_ARRAY_TASK_ID").value_or("");
  if (is_plain(array) && is_plain(task)) job.task_id_ = array + "_" + task;
  job.restart_count_ = environment.number("SLURM_RESTART_COUNT").value_or(0);
  job.given_ = given_nodes(environment);
  return job;
}

std::optional<JobFacts> SlurmJob::show() const {
  return parse_job(ask({"scontrol", "show", "job", "--oneliner", task_id_}));
}

std::vector<Node> SlurmJob::nodes(const std::optional<JobFacts>& facts) const {
  auto nodes = given_;
  if (!facts || !is_plain(facts->nodes)) return nodes;
  const auto healthy =
      parse_node_states(ask({"sinfo", "--noheader", "--all", "--Node", "--nodes=" + facts->nodes, "--format=%N %T"}));
  if (healthy.empty()) return nodes;
  for (auto& node : nodes) {
    const auto found = healthy.find(node.name);
    node.healthy = found != healthy.end() && found->second;
  }
  return nodes;
}

void SlurmJob::end_steps() const {
  const double start = monotonic_seconds();
  for (double asked = 0; monotonic_seconds() - start < steps_end_within_s;
       std::this_thread::sleep_for(std::chrono::seconds(1))) {
    const auto steps = parse_steps(ask({"squeue", "--noheader", "--steps", "--jobs=" + id_, "--format=%i"}));
    if (steps.empty()) return;
    const bool may_save = monotonic_seconds() - start < steps_save_within_s;
    if (may_save && asked > 0) continue;
    asked = monotonic_seconds();
    for (const auto& step : steps) ask({"scancel", may_save ? "--signal=USR1" : "--signal=KILL", step});
  }
}

std::string SlurmJob::requeue() const {
  const auto done = run_child({"scontrol", "requeue", task_id_}, longest_question_s, ChildErrors::with_output);
  if (!done) return fmt::format("scontrol requeue gave no answer within {:.0f} s", longest_question_s);
  if (requeue_succeeded(done->exit_code, done->text)) return {};
  return done->exit_code == 127 ? "scontrol is not there" : trim(done->text);
}

std::string SlurmJob::no_other_nodes(const std::optional<JobFacts>& facts, std::span<const std::string> excluded) const {
  if (!facts || !is_plain(facts->partition)) return "Slurm does not tell of the job's partition";
  const auto text = ask(
      {"sinfo", "--noheader", "--Node", "--partition=" + facts->partition, "--format=" + std::string(partition_format)});
  if (text.empty()) return "sinfo does not answer";
  return why_no_other_nodes(*facts, parse_partition(text), excluded);
}

std::string SlurmJob::exclude(std::span<const std::string> nodes, const std::optional<JobFacts>& before) const {
  if (!before) return "Slurm does not tell which nodes it is not to get already";
  auto all = std::vector<std::string>(nodes.begin(), nodes.end());
  if (!before->excluded_nodes.empty()) all.push_back(before->excluded_nodes);
  const auto list = join(all, ",");
  if (!is_plain(list)) return fmt::format("'{}' is no list of nodes", list);
  std::optional<ChildOutput> done;
  for (int tries_left = 3; tries_left > 0; --tries_left) {  // Slurm ends what runs in the job, scontrol too
    done = run_child({"scontrol", "update", "JobId=" + task_id_, "ExcNodeList=" + list}, longest_question_s,
                     ChildErrors::with_output);
    if (!done) return fmt::format("scontrol update gave no answer within {:.0f} s", longest_question_s);
    if (done->exit_code == 0) return {};
    if (done->exit_code <= killed_by_signal) break;
  }
  return done->exit_code == 127 ? "scontrol is not there" : trim(done->text);
}

}  // namespace trainrt::batch
