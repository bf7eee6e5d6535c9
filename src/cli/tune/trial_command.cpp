#include "cli/tune/trial_command.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace trainrt::cli {

JobSize job_size(const Environment& environment) {
  if (!environment.has("SLURM_JOB_ID")) return {};
  return {std::max(environment.number("SLURM_NTASKS").value_or(1), 1),
          std::max(environment.number("SLURM_NNODES").value_or(1), 1)};
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::vector<std::string> added_srun_words(const Environment& environment) {
  std::istringstream given(environment.text("TRAINRT_SRUN_ARGS").value_or(""));
  return {std::istream_iterator<std::string>(given), {}};
}

std::vector<std::string> trial_command(int ranks, const JobSize& job, const Environment& environment) {
  if (job.tasks == 0 && ranks == 1) return {own_program(), "run"};
  if (job.tasks == 0) return {own_program(), "run", "-n", std::to_string(ranks)};
  // --mem=0 lets the steps share the job's memory; otherwise the first step would take all of it.
  std::vector<std::string> command{"/usr/bin/env",
                                   "srun",
                                   "--exact",
                                   "--mem=0",
                                   "--kill-on-bad-exit=0",
                                   "--wait=20",
                                   fmt::format("--nodes={}", job.nodes_of(ranks)),
                                   fmt::format("--ntasks={}", ranks)};
  for (const auto& word : added_srun_words(environment)) command.push_back(word);
  command.push_back(own_program());
  command.emplace_back("run");
  return command;
}

}  // namespace trainrt::cli
