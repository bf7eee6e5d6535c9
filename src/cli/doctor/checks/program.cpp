// Is the program there on every node, with its script, and the same? What the run itself would refuse, before it starts.
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "core/process/spawn.hpp"
#include "core/text/text.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Tells a script from another of the same name; "" of one that is too long to be written by hand.
std::string content_of(const std::string& file) {
  constexpr std::uintmax_t longest = 4 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || std::filesystem::file_size(file, error) > longest) return {};
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return fmt::format("{:016x}", stable_hash(content.str()));
}

Json look_at_program(const Examination& examination) {
  const auto& command = examination.command();
  const auto& name = command.front();
  const auto executable = find_executable(name);
  if (executable.empty() && !examination.is_staged())
    throw Error(fmt::format("there is no executable '{}' {}", name,
                            name.find('/') == std::string::npos ? "on the PATH of this node" : "on this node"));
  program::require_script(command);
  const auto script = program::script_of(command);
  return {{"executable", executable}, {"script", script}, {"content", script.empty() ? "" : content_of(script)}};
}

/// Of the ranks that would run something else than rank 0.
std::vector<Trouble> others_than_first(const std::vector<Json>& of_rank) {
  const auto& first = of_rank.front();
  std::vector<Trouble> others;
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
    const auto& mine = of_rank[rank];
    if (mine.at("executable") != first.at("executable"))
      others.push_back({static_cast<int>(rank), "finds " + mine.at("executable").get<std::string>()});
    if (mine.at("content") != first.at("content"))
      others.push_back({static_cast<int>(rank), fmt::format("has another '{}'", mine.at("script").get<std::string>())});
  }
  return others;
}

/// "torchrun" if the command starts ranks by itself; "" if it does not.
std::string launcher_in(const std::vector<std::string>& command) {
  const auto name = std::filesystem::path(command.front()).filename().string();
  for (const auto* each : {"torchrun", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun"})
    if (name == each) return each;
  const auto second = command.size() > 1 ? command[1] : "";
  if (name == "accelerate" && second == "launch") return "accelerate launch";
  const auto third = command.size() > 2 ? command[2] : "";
  const bool is_module = name.starts_with("python") && second == "-m";
  return is_module && (third == "torch.distributed.run" || third == "torch.distributed.launch") ? third : "";
}

Finding examine_program(const Examination& examination) {
  const auto answers = examination.ask([&] { return look_at_program(examination); });
  if (!answers.well())
    return error(examination.describe(answers.troubles),
                 "have it on a file system that all nodes share, or install it on that node; a relative path begins in "
                 "the folder that the ranks are started in");
  const auto& first = answers.of_rank.front();
  const std::string executable = first.at("executable");
  const std::string script = first.at("script");
  const Json figures = {{"executable", executable}, {"script", script}};
  if (const auto others = others_than_first(answers.of_rank); !others.empty())
    return warning(
        fmt::format("rank 0 on {} finds {}; {}", examination.hosts().front(), executable, examination.describe(others)),
        "give the path of one that all nodes share, and the same PATH on all", figures);
  if (const auto launcher = launcher_in(examination.command()); !launcher.empty())
    return warning(fmt::format("{} starts ranks of its own, once for each rank that is here already", launcher),
                   fmt::format("leave {} and its options out: -- python3 SCRIPT ARGS", launcher), figures);
  if (executable.empty())
    return ok(fmt::format("'{}' is to come with program.stage: it is not on this PATH", examination.command().front()),
              figures);
  return ok(fmt::format("{}{}{}", executable, script.empty() ? "" : " runs " + script,
                        examination.world().size == 1 ? "" : ", the same on all ranks"),
            figures);
}

}  // namespace

extern const Check program;
const Check program{.name = "program",
                    .help = "the program and its script are there on every rank",
                    .place = 200,
                    .run = examine_program,
                    .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
