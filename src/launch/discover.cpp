#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "launch/expected_size.hpp"
#include "launch/launcher.hpp"
#include "launch/pmi/pmi_socket.hpp"
#include "launch/shell_step.hpp"

namespace trainrt::launch {

int claimed_rank(const Environment& environment) try {
  if (!has_pmi_socket(environment)) return 0;
  for (const auto* variable : {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const auto rank = environment.number(variable)) return *rank;
  return 0;
} catch (const Error&) {  // an environment variable has an invalid value, which discover() reports later
  return 0;
}

int claimed_local_rank(const World& world, const Environment& environment) {
  for (const auto* variable : {"MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const auto local = environment.number(variable)) return *local;
  return world.rank;
}

std::optional<int> ranks_on_this_node(const World& world, const Environment& environment) {
  if (world.size == 1) return 1;
  if (!world.node_of_rank.empty()) return world.local_size;
  if (const auto hydra = environment.number("MPI_LOCALNRANKS")) return hydra;
  if (environment.number("SLURM_STEP_NUM_NODES") == 1) return world.size;
  return std::nullopt;
}

std::unique_ptr<Launch> discover(const Environment& environment, const LaunchOptions& options) {
  const bool is_in_shell = is_shell_step(environment);
  if (is_in_shell) leave_shell_step();
  if (!is_in_shell && is_shell_of_parallel_job(environment))
    throw UsageError(
        fmt::format("this is the batch shell of job {}, which has {} tasks: start it with srun (`srun trainrt ...`)",
                    *environment.text("SLURM_JOB_ID"), *environment.text("SLURM_NTASKS")));
  const auto visible = is_in_shell ? Environment() : environment;
  const Launcher* best = nullptr;
  for (const auto* launcher : launcher_table())
    if (launcher->viable(visible) && (best == nullptr || launcher->preference > best->preference)) best = launcher;
  if (best == nullptr)
    throw UsageError("no launcher can start in this environment; the launchers are: " + join(names_of(launcher_table())));
  auto launch = best->open(visible, options);
  launch->world().launcher = best->name;
  require_expected_size(visible, launch->world().size, std::string(best->name));
  return launch;
}

}  // namespace trainrt::launch
