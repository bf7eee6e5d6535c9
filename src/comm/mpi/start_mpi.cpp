#include "comm/mpi/start_mpi.hpp"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "comm/backend_agreement.hpp"
#include "comm/mpi/mpi_call.hpp"
#include "comm/mpi/mpi_transports.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "launch/expected_size.hpp"

namespace trainrt::comm {

namespace {

/// Handles a failure of MPI_Init while this object lives. MPI prints its own messages and calls exit(). The exit handler of
/// this class then logs an error with advice and ends the job step with exit code 70.
class StartGuard {
 public:
  explicit StartGuard(launch::Launch& launch) {
    static const int registered = std::atexit(end_badly);
    static_cast<void>(registered);
    process_ = getpid();
    starting_ = &launch;
  }
  ~StartGuard() { starting_ = nullptr; }
  StartGuard(const StartGuard&) = delete;
  StartGuard& operator=(const StartGuard&) = delete;

 private:
  static void end_badly() {
    auto* launch = starting_.load();
    if (launch == nullptr || process_ != getpid()) return;
    log::error(fmt::format(
        "MPI_Init failed on {}; see MPI's messages above. Check the limits (ulimit -f, -n, -s, -v), the space in /dev/shm "
        "and the environment variables PMI_*, UCX_* and MPIR_CVAR_*, and run `trainrt doctor` with the same launcher",
        host_name()));
    wait_for_output_delivery();
    launch->abort(static_cast<int>(ExitCode::failed));
  }
  static inline std::atomic<launch::Launch*> starting_ = nullptr;
  static inline pid_t process_ = 0;
};

void initialize_mpi(launch::Launch& launch) {
  int initialized = 0;
  check_mpi(mpi().Initialized(&initialized));
  if (initialized != 0)
    throw UsageError("the program has already initialized MPI: let trainrt initialize MPI, and use MPI after that");
  const MpiTransports transports(launch.world());
  launch.before_mpi();
  int provided = 0;
  const StartGuard guard(launch);
  check_mpi(mpi().Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
  launch.after_mpi();
}

/// Returns whether the communicator's destructor finalizes MPI. With several nodes, MPI is not finalized if the launcher
/// allows a process to exit without MPI_Finalize. A barrier before the exit then makes sure that no message is left to be
/// sent.
///
/// The reason: MPI_Finalize of MPICH before 4.2 closes UCX's TCP connections without waiting for the other ranks. It hangs
/// or fails if a rank is late (pmodels/mpich pull request 6596).
MpiCommunicator::Finalize finalize_policy(const launch::Launch& launch) {
  using Finalize = MpiCommunicator::Finalize;
  return launch.world().node_count > 1 && launch.may_skip_mpi_finalize() ? Finalize::never : Finalize::with_communicator;
}

}  // namespace

std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend) {
  initialize_mpi(launch);
  // The error handler of MPI_COMM_WORLD also handles errors that belong to no communicator.
  check_mpi(mpi().Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  const int rank = mpi_rank(MPI_COMM_WORLD), size = mpi_size(MPI_COMM_WORLD);
  const auto& world = launch.world();
  if (size != world.size || rank != world.rank)
    throw UsageError(
        fmt::format("MPI has {} ranks and this process is rank {}, but the launcher '{}' announced rank {} of {}: "
                    "the MPI library {} cannot be started by that launcher. "
                    "Use the mpiexec of that MPI, or srun --mpi=pmix",
                    size, rank, world.launcher, world.rank, world.size, launch::found_mpi().library->path));
  auto communicator = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, options.timeout_seconds, finalize_policy(launch),
                                                        [&launch] { return launch.can_finalize_mpi(); });
  require_equal_backends(communicator->all_gather(backend));
  return communicator;
}

std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds) {
  int initialized = 0;
  int finalized = 0;
  check_mpi(mpi().Initialized(&initialized));
  check_mpi(mpi().Finalized(&finalized));
  if (initialized == 0 || finalized != 0)
    throw UsageError(
        fmt::format("mpi_communicator: MPI {}: call MPI_Init first. If the program has called MPI_Init, it uses another "
                    "MPI library than {}",
                    finalized != 0 ? "has been finalized" : "has not been initialized", launch::found_mpi().library->path));
  undo_mpi_preparation();
  launch::require_expected_size_of_mpi(Environment::of_process(), mpi_size(MPI_COMM_WORLD));
  return std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, timeout_seconds, MpiCommunicator::Finalize::by_program);
}

}  // namespace trainrt::comm
