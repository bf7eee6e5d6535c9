// Launcher plug-in "pmi": ranks that mpiexec (Hydra), `srun --mpi=pmi2` or `trainrt -n` started. MPICH's own PMI client
// communicates with the launcher; this plug-in only reads the rank and size from the environment. The ranks of `trainrt -n`
// can also exchange texts without MPI.
#include <fcntl.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/output/output_capture.hpp"
#include "core/output/terminal.hpp"
#include "launch/launcher.hpp"
#include "launch/launchers/end_within.hpp"
#include "launch/mpi/mpi_library.hpp"
#include "launch/pmi/pmi_client.hpp"
#include "launch/pmi/pmi_socket.hpp"
#include "launch/rank_group.hpp"

namespace trainrt::launch::plugins {

namespace {

/// Redirects standard error to /dev/null, because MPI_Abort would print "Abort(64) on node 0 ..." after the actual error
/// message.
void silence_standard_error() {
  if (const int nothing = open("/dev/null", O_WRONLY); nothing >= 0) dup2(nothing, STDERR_FILENO);
}

class PmiLaunch : public Launch {
 public:
  PmiLaunch(const Environment& environment, const LaunchOptions& options) {
    if (!has_pmi_socket(environment))
      throw UsageError(
          fmt::format("PMI_FD={} was set by another launcher: "
                      "it is not an open socket of this process. Remove the variables of that launcher "
                      "(env -u PMI_FD -u PMI_RANK -u PMI_SIZE COMMAND), or start with mpiexec, srun or -n",
                      environment.text("PMI_FD").value_or("")));
    world_.rank = environment.number("PMI_RANK").value_or(0);
    world_.size = environment.number("PMI_SIZE").value_or(1);
    if (world_.size == 1) world_.node_of_rank = {0};
    const auto socket = environment.number("PMI_FD");
    socket_ = socket.value_or(-1);
    if (!socket || environment.text(rank_group_variable) != rank_group_name) return;
    client_ = std::make_unique<PmiClient>(*socket, world_.rank, world_.size, options.timeout_seconds + server_delay_s);
    world_.node_of_rank.assign(static_cast<std::size_t>(world_.size), 0);
    derive_topology(world_);
  }

  bool can_gather() const override { return client_ != nullptr && !uses_mpi_; }
  std::vector<std::string> gather(const std::string& text) override { return client_->gather(text); }

  void before_mpi() override { uses_mpi_ = true; }
  bool can_finalize_mpi() const override { return socket_ < 0 || !has_hung_up(socket_); }

  void after_mpi() override {
    // Child processes must not inherit the PMI variables: a child process that calls MPI would join MPI as this rank, and
    // its MPI_Finalize would end this rank's connection to the launcher.
    for (const auto* variable : {"PMI_FD", "PMI_PORT", "PMI_RANK", "PMI_SIZE", "PMI_ID", rank_group_variable})
      unsetenv(variable);
  }

  void abort(int code) noexcept override {
    OutputCapture::restore_at_exit();
    last_row::restore_at_exit();
    end_within(std::chrono::seconds(10), code);
    if (uses_mpi_) abort_mpi(code);
    if (client_ && !uses_mpi_) {
      client_->abort(code);
      std::this_thread::sleep_for(std::chrono::seconds(2));  // until this process is killed
    }
    _exit(code);
  }

  /// Reports to the launcher that this rank ends as intended. If MPI was started, MPI_Finalize has already reported this.
  void finalize() override {
    if (client_ && !uses_mpi_) client_->finalize();
  }

 private:
  /// Seconds by which the client's timeout is longer than the server's, whose error names the missing ranks.
  static constexpr double server_delay_s = 10;

  static void abort_mpi(int code) noexcept {
    const auto& functions = mpi();
    int started = 0;
    int ended = 0;
    functions.Initialized(&started);
    functions.Finalized(&ended);
    if (started == 0 || ended != 0) return;
    silence_standard_error();
    functions.Abort(MPI_COMM_WORLD, code);
  }

  int socket_ = -1;                    ///< connection to the launcher, which MPI uses, too; -1 if MPI opens one (PMI_PORT)
  std::unique_ptr<PmiClient> client_;  ///< nullptr if another launcher than `trainrt -n` started the ranks
  std::atomic<bool> uses_mpi_ = false;
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
                   .open = [](const Environment& environment, const LaunchOptions& options) -> std::unique_ptr<Launch> {
                     return std::make_unique<PmiLaunch>(environment, options);
                   }};

}  // namespace trainrt::launch::plugins
