#pragma once
#include <atomic>
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt::launch {

/// A PMI-1 client, by which the ranks of `trainrt -n` exchange texts without MPI. The server is the process that started
/// the ranks (rank_group.hpp). An MPI library may use the same socket later, but not at the same time. All functions
/// except abort() must be called from one thread.
class PmiClient {
 public:
  /// `socket`: the connected socket, which the PmiClient does not own. It is closed in programs that this process starts.
  /// `timeout_seconds`: how long an answer may take. The server has a timeout of its own for ranks that are missing.
  PmiClient(int socket, int rank, int size, double timeout_seconds);

  /// Returns the `text` of all ranks, in rank order; the texts may contain any bytes. Collective. Throws Error if the
  /// server does not answer, or closes the connection because another rank has failed.
  std::vector<std::string> gather(const std::string& text);
  /// Reports to the server that this rank ends as intended. Throws Error as gather() does, but not if the server's
  /// process has died.
  void finalize();
  /// Asks the server to end all ranks with exit code `code`. Does nothing during another call of this object, because the
  /// server does not read then. Thread-safe.
  void abort(int code) noexcept;

 private:
  std::string request(const std::string& line);
  std::string read_line();
  [[noreturn]] void fail_without_connection() const;

  int socket_;
  pid_t starter_;  ///< parent of this process, which has the other end of the connection
  int rank_;
  int size_;
  double timeout_seconds_;
  int gathers_ = 0;
  std::atomic<bool> is_waiting_ = false;
};

}  // namespace trainrt::launch
