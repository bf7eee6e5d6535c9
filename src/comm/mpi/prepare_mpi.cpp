// Implementation of prepare_mpi(), for programs that initialize and finalize MPI themselves.
#include "comm/mpi/start_mpi.hpp"

#include <memory>

#include <trainrt/communicators.hpp>
#include <trainrt/error.hpp>

#include "comm/mpi/mpi_call.hpp"
#include "comm/mpi/mpi_transports.hpp"
#include "core/plugin.hpp"
#include "launch/expected_size.hpp"
#include "launch/launcher.hpp"
#include "launch/library_versions.hpp"
#include "launch/pmi/pmi_bridge.hpp"

namespace trainrt {

namespace comm {

namespace {

/// The state that prepare_mpi() sets up for the program's MPI_Init: the launch and the environment variables. Never
/// destroyed, because the PMI bridge must answer MPI's requests until the program calls MPI_Finalize.
struct MpiPreparation {
  std::unique_ptr<launch::Launch> launch;  ///< launch by PMIx if this MPI library needs it, otherwise nullptr
  std::unique_ptr<MpiTransports> transports;
};
MpiPreparation* the_preparation = nullptr;

bool needs_pmix(const Environment& environment) {
  // PMI_FD or PMI_PORT is set if an mpiexec inside the Slurm job step started this process.
  const bool has_pmi = environment.has("PMI_FD") || environment.has("PMI_PORT");
  return environment.has("PMIX_NAMESPACE") && !has_pmi && launch::needs_bridge(launch::mpi_library_text(), environment);
}

/// Returns a World with the rank and the number of ranks that the launcher's environment variables announce.
World promised_world(const Environment& environment) {
  World world;
  world.rank = launch::claimed_rank(environment);
  if (const auto expected = launch::expected_size(environment)) world.size = expected->size;
  return world;
}

}  // namespace

void undo_mpi_preparation() {
  if (the_preparation == nullptr) return;
  the_preparation->transports.reset();
  if (the_preparation->launch) the_preparation->launch->after_mpi();
}

}  // namespace comm

void prepare_mpi(double timeout_seconds) {
  int initialized = 0;
  comm::check_mpi(launch::mpi().Initialized(&initialized));
  if (initialized != 0) throw UsageError("prepare_mpi: MPI is already initialized: call prepare_mpi() before MPI_Init");
  if (comm::the_preparation != nullptr) return;
  const auto environment = Environment::of_process();
  auto preparation = std::make_unique<comm::MpiPreparation>();
  World world = comm::promised_world(environment);
  if (comm::needs_pmix(environment)) {
    const auto& pmix = find_plugin(launch::launcher_table(), "pmix", "launcher");
    preparation->launch = pmix.open(environment, {.timeout_seconds = timeout_seconds, .ends_with_mpi = true});
    preparation->launch->before_mpi();
    world = preparation->launch->world();
  }
  preparation->transports = std::make_unique<comm::MpiTransports>(world);
  comm::the_preparation = preparation.release();
}

}  // namespace trainrt
