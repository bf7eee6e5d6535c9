#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <string>

namespace trainrt::launch {

/// The key-value store and the fence that a PmiServer offers to one rank. Implemented over PMIx, by the process that
/// started all ranks, or by a fake in tests. The server calls all functions on its own thread.
struct PmiStore {
  int rank = 0;
  int size = 1;
  std::string space;            ///< name of the job's key-value space
  std::string process_mapping;  ///< see process_mapping.hpp; "" if unknown
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<void()> fence;  ///< blocks until all ranks have called it; throws if a rank cannot
  std::function<std::string(int rank, const std::string& key)> get;
  std::function<void()> finalize;  ///< called when the client calls MPI_Finalize; may be empty
  std::function<void(int code)> abort;
  std::function<void(const std::string& why)> fail;  ///< called if put, fence or get threw; the client cannot continue
};

/// Serves the PMI-1 wire protocol, also named "Simple PMI", to one rank (Flux RFC 13; MPICH src/pmi/simple).
class PmiServer {
 public:
  explicit PmiServer(PmiStore store);

  /// Answers requests from `socket` until the client finalizes or closes its end, and then shuts the socket down. The
  /// caller owns and closes it.
  void serve(int socket);
  /// Returns the answer to one request line, both without newline; "" if the connection must be closed.
  std::string answer(const std::string& line);
  /// Must be called after MPI_Init has returned. Later barriers are answered at once, without a fence: the only one is that
  /// of MPI_Finalize. In it MPICH before 4.2 makes no progress on open connections, for which other ranks may wait forever
  /// if UCX uses TCP (pmodels/mpich pull request 6596 removed that barrier). Any thread may call it.
  void end_start() { start_is_over_ = true; }

 private:
  void answer_requests(int socket);
  std::string barrier();

  PmiStore store_;
  std::atomic<bool> start_is_over_ = false;
  int epoch_ = 0;
  std::map<std::string, std::string> mine_;    ///< values put since the last barrier
  std::map<std::string, std::string> shared_;  ///< values of all ranks, from all barriers so far
};

}  // namespace trainrt::launch
