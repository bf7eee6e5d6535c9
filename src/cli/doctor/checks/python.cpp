// The program's Python on each node: its version, the frameworks that it has, and what the script imports.
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/python_report.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double python_limit_seconds = 20;  // of an interpreter on shared storage that is slow

/// One node's: null if the command starts no Python there.
Json ask_python_here(const Examination& examination) {
  const auto python = python_command_of(examination.command());
  if (!python) return {};
  const auto report = ask_python(*python, python_limit_seconds);
  return {{"interpreter", python->interpreter}, {"script", python->script},  {"version", report.version},
          {"frameworks", report.frameworks},    {"missing", report.missing}, {"mistake", report.mistake}};
}

PythonReport report_in(const Json& answer) {
  return {answer.at("version"), answer.at("frameworks"), answer.at("missing"), answer.at("mistake")};
}

/// Of the nodes that have another Python than the first.
std::vector<Trouble> other_pythons(const Examination& examination, const std::vector<Json>& of_node) {
  std::vector<Trouble> troubles;
  for (std::size_t node = 1; node < of_node.size(); ++node) {
    const auto found = of_node[node].is_null() ? std::vector<std::string>{"the command starts no Python"}
                                               : differences(report_in(of_node.front()), report_in(of_node[node]));
    if (!found.empty()) troubles.push_back({examination.leaders()[node], join(found)});
  }
  return troubles;
}

std::string frameworks_text(const PythonReport& report) {
  std::vector<std::string> parts;
  for (const auto& [name, version] : report.frameworks) parts.push_back(name + " " + version);
  return parts.empty() ? "none of the known frameworks" : join(parts);
}

Finding judge_first(const Json& first, std::size_t nodes) {
  const auto report = report_in(first);
  const std::string interpreter = first.at("interpreter");
  const std::string script = first.at("script");
  if (!report.mistake.empty())
    return error(fmt::format("{} is no Python {}: {}", script, report.version, report.mistake),
                 "correct the script, or take the Python that it is written for", first);
  if (!report.missing.empty())
    return warning(fmt::format("{} imports {}, which {} does not find", script, join(report.missing), interpreter),
                   "activate the environment that has it before srun, or name its python3 by its path", first);
  return ok(fmt::format("{} {}: {}{}", interpreter, report.version, frameworks_text(report),
                        nodes == 1 ? "" : ", the same on all nodes"),
            first);
}

Finding examine_python(const Examination& examination) {
  if (examination.is_staged()) return ok("not asked: program.stage may bring another Python to each node");
  const auto answers = examination.ask_nodes([&] { return ask_python_here(examination); });
  if (!answers.well())
    return error(examination.describe(answers.troubles),
                 "have a Python there that starts: if the storage is slow, program.stage puts it on each node's own");
  const auto& first = answers.of_rank.front();
  if (first.is_null()) return ok("the command starts no Python that could be asked here");
  if (const auto others = other_pythons(examination, answers.of_rank); !others.empty())
    return error(fmt::format("rank 0 on {} has Python {} with {}; {}", examination.hosts().front(),
                             first.at("version").get<std::string>(), frameworks_text(report_in(first)),
                             examination.describe(others)),
                 "use one environment that all nodes share, or the same on each (program.stage copies it)", first);
  return judge_first(first, answers.of_rank.size());
}

}  // namespace

extern const Check python;
const Check python{.name = "python",
                   .help = "the program's Python and its frameworks: the same on all nodes, and what the script imports",
                   .place = 220,
                   .run = examine_python,
                   .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
