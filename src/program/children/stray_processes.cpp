#include "program/children/stray_processes.hpp"

#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/process/processes.hpp"
#include "program/rendezvous/nonce.hpp"

namespace trainrt::program {

StrayProcesses::StrayProcesses() : nonce_(random_nonce()) {}

std::string StrayProcesses::mark() const { return fmt::format("{}={}", mark_variable, nonce_); }

void StrayProcesses::note(pid_t program) {
  noted_.clear();
  for (const pid_t process : process_tree(program))
    if (process != program) noted_.push_back({process, process_start_time(process)});
}

std::vector<pid_t> StrayProcesses::running() const {
  std::vector<std::string> variables = {mark()};
  if (auto job = job_variable(); !job.empty()) variables.push_back(std::move(job));
  auto found = processes_with(variables);
  std::erase_if(found, [](pid_t process) { return !runs(process); });
  return found;
}

/// Kills the processes in several rounds, since a process may start another process during the search.
void StrayProcesses::kill_all() const {
  constexpr int max_rounds = 5;
  for (const auto& [process, start_time] : noted_)
    if (start_time != 0 && process_start_time(process) == start_time) kill(process, SIGKILL);
  for (int round = 0; round < max_rounds; ++round) {
    const auto left = running();
    for (const pid_t process : left) kill(process, SIGKILL);
    if (left.empty()) return;
  }
}

std::string StrayProcesses::kill_command() {
  return "for each in $(grep -lszxF -- \"$2\" /proc/[0-9]*/environ); do "
         "if [ -z \"$3\" ] || grep -qszxF -- \"$3\" \"$each\"; then "
         "each=${each#/proc/}; kill -s KILL \"${each%/environ}\" 2>/dev/null; fi; done";
}

std::string StrayProcesses::job_variable() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return job != nullptr ? std::string("SLURM_JOB_ID=") + job : std::string();
}

}  // namespace trainrt::program
