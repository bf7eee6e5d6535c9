#include "cli/supervise/srun_command.hpp"

#include <sstream>

#include <fmt/format.h>

namespace trainrt::cli {

std::vector<std::string> srun_command(const batch::RestartDecision& shape, std::string_view user_options,
                                      bool input_only_to_first_rank) {
  std::vector<std::string> command = {"srun", "--kill-on-bad-exit=0",  // passes exit code 75 to this process
                                      "--wait=20",         // if a rank exits early with 0, the others end after 20 s
                                      "--immediate=300"};  // fails after 300 s if Slurm considers the nodes busy
  if (input_only_to_first_rank) command.emplace_back("--input=0");
  std::istringstream options{std::string(user_options)};
  for (std::string option; options >> option;) command.push_back(option);
  if (!shape.nodes.empty()) {
    command.push_back(fmt::format("--nodes={}", shape.nodes.size()));
    command.push_back(fmt::format("--ntasks={}", shape.tasks));
    command.push_back(fmt::format("--nodelist={}", fmt::join(shape.nodes, ",")));
    command.emplace_back("--distribution=block");
    if (shape.shares_cpus) {
      command.emplace_back("--overcommit");
      command.emplace_back("--cpu-bind=none");  // otherwise two ranks may be bound to one CPU while others are idle
    }
  }
  return command;
}

}  // namespace trainrt::cli
