#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <string>

namespace trainrt::launch {

/// What one rank's PMI-1 client is served from: a PMIx client, the process that started all ranks, or a test's fake.
struct PmiStore {
  int rank = 0;
  int size = 1;
  std::string space;
  std::string process_mapping;  ///< "" if unknown
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<void()> fence;  ///< waits for all ranks; throws if one cannot come
  std::function<std::string(int rank, const std::string& key)> get;
  std::function<void()> finalize;  ///< the client is in MPI_Finalize; may be empty
  std::function<void(int code)> abort;
  std::function<void(const std::string& why)> fail;  ///< a fence failed: nothing can go on
};

/// Serves the PMI-1 wire protocol to one rank: "Simple PMI" (Flux RFC 13; MPICH src/pmi/simple).
class PmiServer {
 public:
  explicit PmiServer(PmiStore store);

  /// Answers what comes from the socket, until the client finalizes or is gone. The socket stays the caller's, shut
  /// down.
  void serve(int socket);
  /// The answer to one line, without its newline; "" ends the conversation.
  std::string answer(const std::string& line);
  /// MPI_Init has returned: the only barrier to come is that of MPI_Finalize, which is answered at once. MPICH before 4.2
  /// makes no progress in it while other ranks still close their connections to this one, and over UCX's TCP they wait for
  /// that for ever (pmodels/mpich pull request 6596 removed this barrier). Any thread may call it.
  void end_start() { start_is_over_ = true; }

 private:
  void converse(int socket);
  std::string barrier();

  PmiStore store_;
  std::atomic<bool> start_is_over_ = false;
  int epoch_ = 0;
  std::map<std::string, std::string> mine_;    ///< put since the last barrier
  std::map<std::string, std::string> shared_;  ///< of all ranks, from the barriers so far
};

}  // namespace trainrt::launch
