#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// The tracker by which XGBoost's workers find each other and get their ranks: in the order of their task ids
/// (DMLC_TASK_ID), which are the numbers of the ranks here. One communicator after the other may be made.
///
/// Two protocols on one port, both with 32-bit numbers in the machine's order and texts after their length: that of rabit,
/// XGBoost 1.x and 2.0 (xgboost/tracker.py and rabit/src/allreduce_base.cc), and JSON commands, XGBoost 2.1 and later
/// (src/collective/protocol.h, tracker.cc and comm.cc). After the same magic number the first goes on with numbers, the
/// second with an object. A worker that lost its neighbours is not taken back: programs start again together.
class XgboostTracker : public Service {
 public:
  /// `listener`: a socket that listens.
  XgboostTracker(const Rendezvous& meeting, Descriptor listener);

 private:
  /// One that waits until all have come.
  struct Worker {
    Peer peer;
    std::string task;
    int port = 0;  ///< that it listens on, if it says so at once
  };
  /// One whose neighbours may connect to it.
  struct Reachable {
    std::string host;
    int port = 0;
  };

  Admission admission(const Peer& peer, std::string_view received, std::size_t examined) const;
  std::string rank_of_task(const std::string& task) const;
  void serve(Peer peer);
  void serve_rabit(Peer peer, int world_size);
  void serve_json(Peer peer, const std::string& introduction);
  void start_rabit();
  void start_json();
  bool is_complete(const std::vector<Worker>& workers) const;
  std::optional<int> introduce(const Worker& worker, int rank,
                               const std::vector<std::optional<Reachable>>& reachable) const;

  Rendezvous meeting_;
  std::vector<Worker> of_rabit_;
  std::vector<Worker> of_json_;
  TcpServer server_;  // last: its thread uses the rest
};

/// The value of DMLC_TASK_ID: the rank and, after a dash, the secret without which the tracker gives no answer. XGBoost 2.1
/// and later prints it, so it is not the secret of the other services. Pure.
std::string xgboost_task_id(const Rendezvous& meeting);

/// The places of the workers by their task ids: those that are numbers first, in their order. Pure.
std::vector<std::size_t> places_by_task(const std::vector<std::string>& tasks);

/// Whom a rank is connected to for rabit: the neighbours in a binary tree over all ranks, and those in a ring. Pure.
struct RabitLinks {
  int parent = -1;
  std::vector<int> tree;
  int previous = -1;  ///< -1: alone
  int next = -1;
  std::vector<int> all() const;  ///< without repetition, ascending
};
RabitLinks rabit_links(int rank, int size);

}  // namespace trainrt::program
