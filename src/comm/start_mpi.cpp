#include "comm/start_mpi.hpp"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "comm/mpi_call.hpp"
#include "comm/mpi_transports.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "launch/expected_size.hpp"

namespace trainrt::comm {

namespace {

/// While it lives, MPI starts: if MPI cannot, it prints lines of its own and calls exit() with a code of its own. Then the
/// step ends with 70 and a sentence.
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
        "MPI cannot start on {}; its own lines above say why. Check the limits (ulimit -f, -n, -s, -v), the space in "
        "/dev/shm "
        "and variables that others have set (PMI_*, UCX_*, MPIR_CVAR_*), and run `trainrt doctor` in the same way",
        host_name()));
    wait_for_output_delivery();
    launch->abort(static_cast<int>(ExitCode::failed));
  }
  static inline std::atomic<launch::Launch*> starting_ = nullptr;
  static inline pid_t process_ = 0;
};

void initialize_mpi(launch::Launch& launch) {
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized));
  if (initialized != 0)
    throw UsageError("MPI has been initialized by the program: let trainrt start it, and use MPI after that");
  const MpiTransports transports(launch.world());
  launch.before_mpi();
  int provided = 0;
  const StartGuard guard(launch);
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
  launch.after_mpi();
}

/// In MPI_Finalize MPICH before 4.2 ends the connections that UCX has over TCP without regard for the ranks at their other
/// ends: if one comes late it hangs, or fails (pmodels/mpich pull request 6596). After a barrier nothing is left to be
/// sent, so between nodes the processes end without it if the launcher allows that.
MpiCommunicator::Finalize who_ends_mpi(const launch::Launch& launch) {
  using Finalize = MpiCommunicator::Finalize;
  return launch.world().node_count > 1 && launch.may_skip_mpi_finalize() ? Finalize::never : Finalize::with_communicator;
}

}  // namespace

std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend) {
  initialize_mpi(launch);
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));  // some errors are raised there
  int rank = 0, size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size));
  const auto& world = launch.world();
  if (size != world.size || rank != world.rank)
    throw UsageError(fmt::format(
        "MPI formed a world of {} (this process is its rank {}), but the launcher '{}' announced rank {} of {}: "
        "this MPI library was not started by that launcher. Start with the mpiexec of the MPI that trainrt is "
        "built with, or with srun --mpi=pmix",
        size, rank, world.launcher, world.rank, world.size));
  auto communicator = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, options.timeout_seconds, who_ends_mpi(launch));
  const auto chosen = communicator->all_gather(backend);
  for (std::size_t other = 1; other < chosen.size(); ++other)
    if (chosen[other] != chosen[0])
      throw BackendsDiffer(fmt::format("rank 0 is to open the backend '{}', rank {} '{}'", chosen[0], other, chosen[other]),
                           static_cast<int>(other));
  return communicator;
}

std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds) {
  int initialized = 0;
  int finalized = 0;
  check_mpi(MPI_Initialized(&initialized));
  check_mpi(MPI_Finalized(&finalized));
  if (initialized == 0 || finalized != 0)
    throw UsageError(
        fmt::format("mpi_communicator: MPI {}: call MPI_Init first. Where the program has done so, it is built with "
                    "another MPI than trainrt is",
                    finalized != 0 ? "has been finalized" : "has not been initialized"));
  end_preparation();
  int size = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size));
  launch::require_expected_size_of_mpi(Environment::of_process(), size);
  return std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, timeout_seconds, MpiCommunicator::Finalize::by_program);
}

}  // namespace trainrt::comm
