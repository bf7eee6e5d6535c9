// mpiexec (hydra), `srun --mpi=pmi2`, and `trainrt -n`: MPICH's own PMI-1 client talks to the launcher; we only read who we
// are.
#include <mpi.h>
#include <unistd.h>

#include "core/own_output.hpp"
#include "core/terminal.hpp"
#include "launch/launcher.hpp"
#include "launch/launchers/end_within.hpp"

namespace trainrt::launch::plugins {

namespace {

class PmiLaunch : public Launch {
 public:
  explicit PmiLaunch(const Environment& environment) {
    world_.rank = environment.number("PMI_RANK").value_or(0);
    world_.size = environment.number("PMI_SIZE").value_or(1);
    if (world_.size == 1) world_.node_of_rank = {0};
  }

  void after_mpi() override {
    // A child would take itself for a rank of this step, and its MPI_Finalize would end ours.
    for (const auto* variable : {"PMI_FD", "PMI_PORT", "PMI_RANK", "PMI_SIZE", "PMI_ID"}) unsetenv(variable);
  }

  void abort(int code) noexcept override {
    OwnOutput::give_back_at_exit();
    last_row::give_back_at_exit();
    end_within(std::chrono::seconds(10), code);
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started != 0 && ended == 0) MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
  }
};

}  // namespace

extern const Launcher pmi;
const Launcher pmi{.name = "pmi",
                   .help = "mpiexec, srun --mpi=pmi2, or trainrt -n",
                   .preference = 10,
                   .viable =
                       [](const Environment& environment) {
                         return environment.has("PMI_SIZE") && (environment.has("PMI_FD") || environment.has("PMI_PORT"));
                       },
                   .open = [](const Environment& environment, const LaunchOptions&) -> std::unique_ptr<Launch> {
                     return std::make_unique<PmiLaunch>(environment);
                   }};

}  // namespace trainrt::launch::plugins
