#pragma once
#include <string>
#include <thread>

#include "launch/pmi/pmi_server.hpp"

namespace trainrt::launch {

/// A bridge from PMI-1 to PMIx: lets an MPICH that speaks only PMI-1 start in a Slurm job step that offers only PMIx. A
/// thread of the bridge serves PMI-1 to MPICH over a socket pair inside this process. The PmiStore turns puts and barriers
/// of PMI-1 into PMIx puts and fences.
class PmiBridge {
 public:
  explicit PmiBridge(PmiStore store);
  ~PmiBridge();
  PmiBridge(const PmiBridge&) = delete;
  PmiBridge& operator=(const PmiBridge&) = delete;

  /// Starts the PMI-1 server thread of the bridge, and sets the environment variables PMI_FD, PMI_RANK and PMI_SIZE for the
  /// following MPI_Init.
  void start();
  /// Removes PMI_FD, PMI_RANK and PMI_SIZE from the environment, because a child process that inherited them would join MPI
  /// as this rank. Later barriers do not wait (PmiServer::end_start()). Must be called after MPI_Init.
  void hide();

 private:
  int rank_;
  int size_;
  PmiServer server_;
  std::thread thread_;
  /// This process's end of the socket pair that the bridge serves; MPI owns and closes the other end.
  int server_socket_ = -1;
};

/// Returns whether an MPI library speaks only PMI-1, and so needs a PmiBridge: an MPICH that was not configured with
/// --with-pmix. `library_version` is the text of MPI_Get_library_version().
bool needs_bridge(const std::string& library_version);

}  // namespace trainrt::launch
