#include <array>
#include <filesystem>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/python_report.hpp"
#include "core/host.hpp"
#include "core/process/child_process.hpp"
#include "core/process/spawn.hpp"
#include "io/files/file.hpp"
#include "program/children/other_launcher.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

namespace fs = std::filesystem;

Json probe_program(const Subject& subject) {
  const auto& name = subject.command.front();
  const auto executable = find_executable(name);
  if (executable.empty() && !subject.is_staged)
    throw Error(
        fmt::format("executable '{}' not found on {}this node", name, name.find('/') == name.npos ? "the PATH of " : ""));
  program::require_script(subject.command);
  const auto script = program::script_of(subject.command);
  constexpr std::uintmax_t max_script_bytes = 4 << 20;
  std::error_code error;
  const bool is_hashed = fs::is_regular_file(script, error) && fs::file_size(script, error) <= max_script_bytes;
  return {{"executable", executable}, {"script", script}, {"hash", is_hashed ? stable_hash(io::read_file(script)) : 0}};
}

Finding check_program(const DoctorRanks& ranks, Json& figures) {
  const auto& subject = ranks.subject();
  const auto answers = ranks.ask([&] { return probe_program(subject); });
  const auto& first = answers.first();
  const std::string executable = first.at("executable"), script = first.at("script");
  figures = {{"executable", executable}, {"script", script}};
  const auto others = ranks.problems_in(answers, [&](const Json& mine) {
    if (mine.at("executable") != executable) return "finds " + mine.at("executable").get<std::string>();
    return mine.at("hash") == first.at("hash") ? "" : fmt::format("has another '{}'", script);
  });
  if (!others.empty())
    return warning(fmt::format("rank 0 on {} finds {}; {}", ranks.hosts().front(), executable, others),
                   "give the path of a program that all nodes share, or set the same PATH on all nodes");
  if (const auto launcher = program::launcher_in(subject.command); !launcher.empty())
    return warning(launcher + " would start further ranks in each rank that trainrt has started",
                   fmt::format("leave out {} and its options: -- python3 SCRIPT ARGS", launcher));
  if (executable.empty())
    return ok(fmt::format("'{}' is not on this PATH, but program.stage may copy it", subject.command.front()));
  return ok(executable + (script.empty() ? "" : " runs " + script) +
            (ranks.world().size == 1 ? "" : ", the same on all ranks"));
}

/// Returns a description of the problem that this host's name resolves to an address 127.*, which other nodes cannot
/// reach; "" if it does not. Debian's /etc/hosts contains such an address.
std::string problem_of_own_name() {
  const auto found = run_child({"getent", "ahostsv4", host_name()}, 5);
  const auto address = found && found->exit_code == 0 ? found->text.substr(0, found->text.find_first_of(" \t\n")) : "";
  return address.starts_with("127.") ? fmt::format("the name {} resolves to {} there", host_name(), address) : "";
}

Finding check_program_address(const DoctorRanks& ranks, Json& figures) {
  const auto found = ranks.program_addresses();
  const std::string interface = ranks.ask([&] { return Json(found.interface); }).first();
  const auto& address = found.of_nodes.front();
  figures = {{"address", address}, {"interface", interface}, {"nodes", found.of_nodes}};
  if (ranks.world().node_count == 1) return ok(fmt::format("MASTER_ADDR is {} on one node", address));
  const auto names = ranks.problems_in(ranks.ask_nodes([] { return Json{{"problem", problem_of_own_name()}}; }), "problem");
  const auto text = fmt::format("MASTER_ADDR is {}{}, and all {} nodes can connect to it", address,
                                interface.empty() ? "" : " (" + interface + ")", found.of_nodes.size());
  return warning_if(names.empty() ? "" : text + "; but " + names,
                    "correct /etc/hosts on that node: a script that looks up its own host name, instead of MASTER_ADDR, "
                    "gets an address that no other node can reach",
                    text);
}

std::string frameworks_text(const Json& python) {
  std::vector<std::string> parts;
  for (const auto& [name, version] : python.at("frameworks").items())
    parts.push_back(name + " " + version.get<std::string>());
  return parts.empty() ? "no known framework" : join(parts);
}

Finding check_python(const DoctorRanks& ranks, Json& figures) {
  const auto& subject = ranks.subject();
  if (subject.is_staged) return ok("not checked: program.stage may copy another Python to each node");
  const auto answers = ranks.ask_nodes([&] {
    const auto python = python_command_of(subject.command);
    return python ? report_of_python(*python) : Json();
  });
  const auto& first = answers.first();
  if (first.is_null()) return ok("not checked: the command starts no Python");
  figures = first;
  const std::string version = first.at("version"), script = first.at("script"), interpreter = first.at("interpreter");
  const auto others = ranks.problems_in(answers, [&](const Json& mine) {
    return mine.is_null() ? "the command starts no Python" : join(python_differences(first, mine));
  });
  if (!others.empty())
    return error(
        fmt::format("rank 0 on {} has Python {} with {}; {}", ranks.hosts().front(), version, frameworks_text(first),
                    others),
        "use one environment that all nodes share, or the same environment on each node (program.stage can copy it)");
  if (const std::string mistake = first.at("mistake"); !mistake.empty())
    return error(fmt::format("{} is not valid in Python {}: {}", script, version, mistake),
                 "correct the script, or use the Python version that it was written for");
  if (const auto missing = first.at("missing").get<std::vector<std::string>>(); !missing.empty())
    return error(fmt::format("{} imports {}, which {} does not find", script, join(missing), interpreter),
                 "before srun, activate the environment with these modules, or give the path of its python3");
  return ok(fmt::format("{} {}: {}{}", interpreter, version, frameworks_text(first),
                        answers.values.size() == 1 ? "" : ", the same on all nodes"));
}

constexpr const char* program_advice =
    "put the program on a file system that all nodes share, or install it on that node; a relative path starts at the "
    "folder in which the ranks are started";
constexpr const char* address_advice = "choose another interface with program.interface; a firewall must let nodes connect";
constexpr const char* python_advice =
    "choose a Python that starts on that node; if the storage is slow, program.stage copies the Python to each node";
constexpr std::array<Check, 3> program_checks = {{
    {"program", "the program and its script", check_program, program_advice},
    {"program_address", "the address at which the programs connect", check_program_address, address_advice},
    {"python", "the program's Python and its frameworks", check_python, python_advice},
}};

}  // namespace

extern const CheckGroup program;
const CheckGroup program{.name = "program",
                         .help = "a program that trainrt starts",
                         .order = 60,
                         .checks = program_checks,
                         .needs_program = true};

}  // namespace trainrt::cli::doctor::plugins
