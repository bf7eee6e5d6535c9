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
} catch (const Error&) {  // no launcher sets it to that: the caller's own error names the variable
  return 0;
}

std::unique_ptr<Launch> discover(const Environment& environment, const LaunchOptions& options) {
  const bool is_in_shell = is_shell_step(environment);
  if (is_in_shell) leave_shell_step();
  if (!is_in_shell && is_shell_of_parallel_job(environment))
    throw UsageError(
        fmt::format("this is the batch shell of job {}, which has {} tasks: start it with srun (`srun trainrt ...`)",
                    *environment.text("SLURM_JOB_ID"), *environment.text("SLURM_NTASKS")));
  const auto seen = is_in_shell ? Environment() : environment;
  const Launcher* best = nullptr;
  for (const auto* launcher : launcher_table())
    if (launcher->viable(seen) && (best == nullptr || launcher->preference > best->preference)) best = launcher;
  if (best == nullptr) throw UsageError("no launcher is viable here; there are: " + join(names_of(launcher_table())));
  auto launch = best->open(seen, options);
  launch->world().launcher = best->name;
  check_promise(seen, launch->world().size, std::string(best->name));
  return launch;
}

}  // namespace trainrt::launch
