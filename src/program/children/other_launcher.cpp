#include "program/children/other_launcher.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::program {

namespace {

constexpr std::array<std::string_view, 6> launchers = {"torchrun", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun"};
constexpr std::array<std::string_view, 3> modules = {"torch.distributed.run", "torch.distributed.launch",
                                                     "accelerate.commands.launch"};

}  // namespace

std::string launcher_in(const std::vector<std::string>& command) {
  const auto word = [&](std::size_t at) { return at < command.size() ? command[at] : std::string(); };
  const auto name = std::filesystem::path(word(0)).filename().string();
  if (std::ranges::find(launchers, name) != launchers.end()) return name;
  if (name == "accelerate" && word(1) == "launch") return "accelerate launch";
  const bool is_module = name.starts_with("python") && word(1) == "-m";
  return is_module && std::ranges::find(modules, word(2)) != modules.end() ? word(2) : "";
}

std::string command_without_launcher(const std::vector<std::string>& command) {
  const auto script = std::ranges::find_if(command, [](const auto& word) { return word.ends_with(".py"); });
  if (script == command.end()) return "python3 SCRIPT ARGS";
  std::string text = "python3";
  for (auto word = script; word != command.end(); ++word) text += " " + shell_quoted(*word);
  return text;
}

std::string check_launcher(const std::vector<std::string>& command, int ranks, int nodes, const std::string& start) {
  const auto launcher = launcher_in(command);
  if (launcher.empty()) return {};
  const auto text =
      fmt::format("{} starts its own workers; write: {} -- {}", launcher, start, command_without_launcher(command));
  if (ranks > nodes) throw UsageError(text);
  return text;
}

}  // namespace trainrt::program
