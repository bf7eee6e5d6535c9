#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <string>

namespace trainrt::launch {

/// The key-value store and the fence (a barrier that also exchanges values) that a PmiServer offers to one rank. The
/// implementation is PMIx, the process that started all ranks, or a fake in tests. The server calls all functions on its
/// own thread.
struct PmiStore {
  int rank = 0;
  int size = 1;
  std::string space;            ///< name of the job's PMI key-value space
  std::string process_mapping;  ///< PMI process mapping, which assigns ranks to nodes (process_mapping.hpp); "" if unknown
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<void()> fence;  ///< blocks until all ranks have called fence(); throws if a rank cannot call it
  std::function<std::string(int rank, const std::string& key)> get;
  std::function<void()> finalize;  ///< called when the rank calls MPI_Finalize; may be empty
  std::function<void(int code)> abort;
  /// Called if `put`, `fence` or `get` threw an exception, after which the rank cannot continue.
  std::function<void(const std::string& why)> fail;
};

/// A server of the PMI-1 wire protocol, also named "Simple PMI", for one rank (Flux RFC 13; MPICH src/pmi/simple).
class PmiServer {
 public:
  explicit PmiServer(PmiStore store);

  /// Answers PMI-1 requests from `socket` until the client (the MPI of the rank) finalizes or closes its end, and then
  /// shuts the socket down. The caller owns and closes the socket.
  void serve(int socket);
  /// Returns the answer to one line of a PMI-1 request, both without a newline; "" if the connection must be closed.
  std::string answer(const std::string& line);
  /// Makes the server answer all later barriers at once, without a fence. Must be called after MPI_Init has returned.
  ///
  /// The only later barrier is that of MPI_Finalize. During this barrier, MPICH before 4.2 makes no progress on open
  /// connections. With UCX over TCP, other ranks may then wait forever (pmodels/mpich pull request 6596 removed the
  /// barrier). Thread-safe.
  void end_start() { start_is_over_ = true; }

 private:
  void answer_requests(int socket);
  std::string barrier();

  PmiStore store_;
  std::atomic<bool> start_is_over_ = false;
  int epoch_ = 0;
  std::map<std::string, std::string> mine_;    ///< key-value pairs that this rank has put since the last barrier
  std::map<std::string, std::string> shared_;  ///< key-value pairs of all ranks, from all barriers so far
};

}  // namespace trainrt::launch
