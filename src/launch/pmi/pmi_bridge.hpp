#pragma once
#include <string>
#include <thread>
#include <vector>

#include "core/environment.hpp"
#include "launch/pmi/pmi_server.hpp"

namespace trainrt::launch {

/// A bridge from PMI-1 to PMIx: lets an MPICH that speaks only PMI-1 start in a Slurm job step that offers only PMIx. A
/// thread of the bridge serves PMI-1 to MPICH over a socket pair inside this process. The PmiStore turns puts and barriers
/// of PMI-1 into PMIx puts and fences.
class PmiBridge {
 public:
  explicit PmiBridge(PmiStore store);
  /// Ends the service. MPICH 4.2 and newer use it until the process exits, and print an error if it has ended before.
  ~PmiBridge();
  PmiBridge(const PmiBridge&) = delete;
  PmiBridge& operator=(const PmiBridge&) = delete;

  /// Starts the PMI-1 server thread of the bridge, and sets the environment variables PMI_FD, PMI_RANK and PMI_SIZE for the
  /// following MPI_Init. Also sets MPIR_CVAR_PMI_VERSION, unless the user has set it: MPICH 5 would otherwise refuse to
  /// choose between PMI_SIZE and PMIX_NAMESPACE.
  void start();
  /// Removes the environment variables that start() has set: a child process with these variables would join MPI as this
  /// rank. Also makes later barriers return at once (PmiServer::end_start()). Must be called after MPI_Init.
  void hide();

 private:
  int rank_;
  int size_;
  PmiServer server_;
  std::thread thread_;
  /// This process's end of the socket pair that the bridge serves; MPI owns and closes the other end.
  int server_socket_ = -1;
  std::vector<std::string> variables_;  ///< the environment variables that start() has set
};

/// Returns whether an MPI library needs a PmiBridge under PMIx, because it uses PMI-1. This is an MPICH that was
/// configured without `--with-pmix`, or an Intel MPI for which the user has named no PMI library. `library_version` is
/// the text of MPI_Get_library_version().
bool needs_bridge(const std::string& library_version, const Environment& environment);

}  // namespace trainrt::launch
