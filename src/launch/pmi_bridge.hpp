#pragma once
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace trainrt::launch {

/// What the bridge needs of a PMIx client; tests give it a fake.
struct BridgeStore {
  int rank = 0;
  int size = 1;
  std::string space;
  std::string process_mapping;  ///< "" if unknown
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<void()> fence;
  std::function<std::string(int rank, const std::string& key)> get;
  std::function<void()> finalize;  ///< MPI_Finalize has said goodbye; may be empty
  std::function<void(int code)> abort;
  std::function<void(const std::string& why)> fail;  ///< a fence failed: nothing can go on
};

/// Lets an MPICH that speaks only the PMI-1 wire protocol start in a step that only offers PMIx: it serves that protocol on
/// a socket pair inside the process, from a thread, and turns puts and barriers into PMIx puts and fences. Protocol:
/// "Simple PMI" (Flux RFC 13; MPICH src/pmi/simple).
class PmiBridge {
 public:
  explicit PmiBridge(BridgeStore store);
  ~PmiBridge();
  PmiBridge(const PmiBridge&) = delete;
  PmiBridge& operator=(const PmiBridge&) = delete;

  /// Sets PMI_FD, PMI_RANK and PMI_SIZE for the MPI_Init that follows, and starts the thread.
  void start();
  /// After MPI_Init: takes the variables out of the environment, so that no child takes itself for this rank.
  void hide() const;

  /// The answer to one line, without its newline; "" ends the conversation. Public for tests.
  std::string answer(const std::string& line);

 private:
  void serve(int socket);
  void converse(int socket);
  std::string barrier();

  BridgeStore store_;
  std::thread thread_;
  int server_socket_ = -1;  ///< the other end is MPI's own, which closes it
  int epoch_ = 0;
  std::map<std::string, std::string> mine_;    ///< put since the last barrier
  std::map<std::string, std::string> shared_;  ///< of all ranks, from the barriers so far
};

/// True if this MPI speaks only PMI-1, judged by MPI_Get_library_version(): MPICH not configured --with-pmix.
bool needs_bridge(const std::string& library_version);

}  // namespace trainrt::launch
