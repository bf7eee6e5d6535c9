#pragma once
#include <string>
#include <thread>

#include "launch/pmi/pmi_server.hpp"

namespace trainrt::launch {

/// Lets an MPICH that speaks only PMI-1 start in a step that offers only PMIx. A thread of the bridge serves PMI-1 over a
/// socket pair inside this process; the PmiStore turns its puts and barriers into PMIx puts and fences.
class PmiBridge {
 public:
  explicit PmiBridge(PmiStore store);
  ~PmiBridge();
  PmiBridge(const PmiBridge&) = delete;
  PmiBridge& operator=(const PmiBridge&) = delete;

  /// Sets PMI_FD, PMI_RANK and PMI_SIZE for the following MPI_Init, and starts the thread.
  void start();
  /// Must be called after MPI_Init: removes these variables from the environment, because child processes would take
  /// themselves for this rank. Later barriers do not wait (PmiServer::end_start()).
  void hide();

 private:
  int rank_;
  int size_;
  PmiServer server_;
  std::thread thread_;
  int server_socket_ = -1;  ///< MPI owns and closes the other end of the pair
};

/// Returns whether the MPI with this MPI_Get_library_version() text speaks only PMI-1: an MPICH that was not configured
/// with --with-pmix.
bool needs_bridge(const std::string& library_version);

}  // namespace trainrt::launch
