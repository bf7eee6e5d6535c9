#include "launch/shell_step.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "core/options.hpp"

namespace trainrt::launch {

namespace {

/// Lowest step id of Slurm's special job steps, which srun did not start, such as the batch step (slurm.h).
constexpr std::int64_t first_special_step = 0xFFFFFFF0;

/// Returns the command line of process `pid` as a list of words; empty if the process does not exist.
std::vector<std::string> words_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// Returns whether a command line is that of an interactive shell. Examples: true for "bash", "-zsh", "bash --login" and
/// "bash --rcfile FILE -i"; false for "bash wrapper.sh" and "bash -c COMMAND".
bool is_interactive_shell(const std::vector<std::string>& words) {
  static constexpr std::array shells = {"bash", "sh", "dash", "zsh", "ksh", "fish", "csh", "tcsh"};
  if (words.empty()) return false;
  auto name = std::filesystem::path(words[0]).filename().string();
  if (name.starts_with('-')) name.erase(0, 1);
  if (std::ranges::find(shells, name) == shells.end()) return false;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const bool has_value = words[at] == "--rcfile" || words[at] == "--init-file";
    if (!words[at].starts_with('-') || words[at] == "-c") return false;
    if (has_value) ++at;
  }
  return true;
}

bool is_of_step(std::string_view name) {
  static constexpr std::array beginnings = {"SLURM_STEP", "SLURM_PTY",       "SLURM_CPU_BIND", "SLURM_MEM_BIND",
                                            "SLURM_PMIX", "SLURM_SRUN_COMM", "PMIX_",          "PMI_"};
  static constexpr std::array names = {"SLURM_PROCID",
                                       "SLURM_LOCALID",
                                       "SLURM_NODEID",
                                       "SLURM_GTIDS",
                                       "SLURM_TASK_PID",
                                       "SLURM_DISTRIBUTION",
                                       "SLURM_LAUNCH_NODE_IPADDR",
                                       "SLURM_CPUS_ON_NODE"};
  return std::ranges::any_of(beginnings, [&](std::string_view each) { return name.starts_with(each); }) ||
         std::ranges::find(names, name) != names.end();
}

}  // namespace

bool is_shell_step(const Environment& environment) {
  const auto task = environment.number("SLURM_TASK_PID");
  if (task == getpid() || environment.has("MPI_LOCALRANKID") || environment.has("OMPI_COMM_WORLD_SIZE")) return false;
  const auto step = parse_integer(environment.text("SLURM_STEP_ID").value_or(""));
  if (step && *step >= first_special_step) return environment.has("SLURM_STEP_NUM_TASKS");
  if (!task || !environment.has("SLURM_PTY_PORT")) return false;
  return environment.number("SLURM_STEP_NUM_TASKS") == 1 || is_interactive_shell(words_of(*task));
}

void leave_shell_step() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const auto name = text.substr(0, text.find('=')); is_of_step(name)) names.emplace_back(name);
  }
  for (const auto& name : names) unsetenv(name.c_str());
}

}  // namespace trainrt::launch
