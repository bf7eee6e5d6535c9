#pragma once
#include <string>
#include <thread>

#include "launch/pmi/pmi_server.hpp"

namespace trainrt::launch {

/// Lets an MPICH that speaks only the PMI-1 wire protocol start in a step that only offers PMIx: it serves that protocol on
/// a socket pair inside the process, from a thread, and turns puts and barriers into PMIx puts and fences.
class PmiBridge {
 public:
  explicit PmiBridge(PmiStore store);
  ~PmiBridge();
  PmiBridge(const PmiBridge&) = delete;
  PmiBridge& operator=(const PmiBridge&) = delete;

  /// Sets PMI_FD, PMI_RANK and PMI_SIZE for the MPI_Init that follows, and starts the thread.
  void start();
  /// After MPI_Init: takes the variables out of the environment, so that no child takes itself for this rank. From now on a
  /// barrier does not wait (PmiServer::end_start).
  void hide();

 private:
  int rank_;
  int size_;
  PmiServer server_;
  std::thread thread_;
  int server_socket_ = -1;  ///< the other end is MPI's own, which closes it
};

/// True if this MPI speaks only PMI-1, judged by MPI_Get_library_version(): MPICH not configured --with-pmix.
bool needs_bridge(const std::string& library_version);

}  // namespace trainrt::launch
