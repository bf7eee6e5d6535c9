#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// A tracker: the service from which XGBoost's workers get their ranks and each other's addresses. A worker's rank is the
/// number in its task id (DMLC_TASK_ID), which is the rank of its program.
///
/// Two protocols are served on one port. Both have 32-bit numbers in the byte order of the machine, and texts after their
/// length. Both begin with the same number; then rabit (XGBoost 1.x and 2.0: xgboost/tracker.py and
/// rabit/src/allreduce_base.cc) sends numbers, and XGBoost 2.1 and later (src/collective/protocol.h, tracker.cc and
/// comm.cc) sends a JSON object.
///
/// The trackers of the library itself cannot be used: each serves one communicator only, while a program may open several
/// in turn; they do not check the secret, and that of 1.7 ends if any other client connects; and the runtime cannot know
/// before a worker connects whether a program uses XGBoost, and which version. Workers that lost a neighbour are not
/// reconnected: all programs are then restarted.
class XgboostTracker : public Service {
 public:
  /// `listener`: a listening socket.
  XgboostTracker(const Rendezvous& meeting, Descriptor listener);

 private:
  /// A worker that waits until all workers have connected.
  struct Worker {
    Peer peer;
    int rank = 0;
    int port = 0;  ///< port on which it listens for other workers; 0 if not known yet
  };

  Admission admission(const Peer& peer, std::string_view received, std::size_t examined) const;
  int rank_of_task(const std::string& task) const;
  void serve(Peer peer);
  void serve_rabit(Peer peer, int world_size);
  void serve_json(Peer peer, const std::string& introduction);
  bool is_complete(std::vector<Worker>& workers) const;
  void start_rabit(std::vector<Worker> workers) const;
  static bool introduce(std::vector<Worker>& workers, std::size_t at);
  static void start_json(const std::vector<Worker>& workers);

  Rendezvous meeting_;
  std::vector<Worker> rabit_workers_;
  std::vector<Worker> json_workers_;
  TcpServer server_;  // last: its thread uses the other members
};

/// Returns the value of DMLC_TASK_ID: the rank and, after a dash, the secret without which the tracker does not answer.
/// XGBoost 2.1 and later prints it, so it is not the secret of the other services. Pure function.
std::string xgboost_task_id(const Rendezvous& meeting);

/// The ranks to which a rank connects under rabit: its neighbours in a binary tree of all ranks and in a ring.
struct RabitLinks {
  int parent = -1;        ///< in the tree; -1 for rank 0
  std::vector<int> tree;  ///< the parent and the children
  int previous = -1;      ///< in the ring; -1 if there is only one rank
  int next = -1;
  std::vector<int> all() const;  ///< each neighbour once, ascending
};
/// Pure function.
RabitLinks rabit_links(int rank, int size);

}  // namespace trainrt::program
