// Launcher plug-in "pmi": ranks that mpiexec (Hydra), `srun --mpi=pmi2` or `trainrt -n` started. MPICH's own PMI client
// communicates with the launcher; this plug-in only reads the rank and size from the environment.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/output/output_capture.hpp"
#include "core/output/terminal.hpp"
#include "launch/launcher.hpp"
#include "launch/launchers/end_within.hpp"
#include "launch/pmi/pmi_socket.hpp"

namespace trainrt::launch::plugins {

namespace {

/// Redirects standard error to /dev/null, because MPI_Abort would print "Abort(64) on node 0 ..." after the actual error
/// message.
void silence_standard_error() {
  if (const int nothing = open("/dev/null", O_WRONLY); nothing >= 0) dup2(nothing, STDERR_FILENO);
}

class PmiLaunch : public Launch {
 public:
  explicit PmiLaunch(const Environment& environment) {
    if (!has_pmi_socket(environment))
      throw UsageError(
          fmt::format("PMI_FD={} was set by another launcher: "
                      "it is not an open socket of this process. Remove the variables of that launcher "
                      "(env -u PMI_FD -u PMI_RANK -u PMI_SIZE COMMAND), or start with mpiexec, srun or -n",
                      environment.text("PMI_FD").value_or("")));
    world_.rank = environment.number("PMI_RANK").value_or(0);
    world_.size = environment.number("PMI_SIZE").value_or(1);
    if (world_.size == 1) world_.node_of_rank = {0};
  }

  void after_mpi() override {
    // Child processes must not inherit the PMI variables: a child process that calls MPI would join MPI as this rank, and
    // its MPI_Finalize would end this rank's connection to the launcher.
    for (const auto* variable : {"PMI_FD", "PMI_PORT", "PMI_RANK", "PMI_SIZE", "PMI_ID"}) unsetenv(variable);
  }

  void abort(int code) noexcept override {
    OutputCapture::restore_at_exit();
    last_row::restore_at_exit();
    end_within(std::chrono::seconds(10), code);
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started != 0 && ended == 0) {
      silence_standard_error();
      MPI_Abort(MPI_COMM_WORLD, code);
    }
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
