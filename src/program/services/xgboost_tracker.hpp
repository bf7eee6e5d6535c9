#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// A tracker: the service from which XGBoost's workers get their ranks and the addresses of other workers. The rank of
/// a worker is the number in its task id (DMLC_TASK_ID), which is the rank of the worker's program.
///
/// The tracker serves two protocols on one port. In both, numbers have 32 bits in the byte order of the machine, the
/// length of a string precedes the string, and the worker first sends the magic number. A worker of rabit (XGBoost 1.x
/// and 2.0: xgboost/tracker.py and rabit/src/allreduce_base.cc) then sends numbers. A worker of XGBoost 2.1 and later
/// (src/collective/protocol.h, tracker.cc and comm.cc) then sends a JSON object.
///
/// The trackers of the XGBoost library cannot be used. Each of them serves one communicator only, but a program may
/// open several communicators in turn. They do not check a secret, and the tracker of XGBoost 1.7 ends if any other
/// client connects. Moreover, before a worker connects, the runtime cannot know whether a program uses XGBoost, and in
/// which version. A worker that has lost the connection to another worker is not reconnected; all programs are
/// restarted instead.
class XgboostTracker : public Service {
 public:
  /// `listener`: a listening socket, on which the tracker accepts connections.
  XgboostTracker(const Rendezvous& rendezvous, Descriptor listener);

 private:
  /// A connected worker that waits until all workers have connected.
  struct Worker {
    Peer peer;
    int rank = 0;
    int port = 0;  ///< port on which the worker listens for other workers; 0 if not known yet
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

  Rendezvous rendezvous_;
  std::vector<Worker> rabit_workers_;
  std::vector<Worker> json_workers_;
  TcpServer server_;  // declared last because its thread uses the other members
};

/// Returns the value of DMLC_TASK_ID, "RANK-SECRET". The tracker answers only workers with this secret. XGBoost 2.1 and
/// later prints the task id, so the secret differs from the secret of the other services. Pure function.
std::string xgboost_task_id(const Rendezvous& rendezvous);

/// The ranks to which a rank connects in the rabit protocol: its neighbours in a binary tree of all ranks and in a ring
/// of all ranks.
struct RabitLinks {
  int parent = -1;        ///< parent in the tree; -1 for rank 0
  std::vector<int> tree;  ///< parent and children in the tree
  int previous = -1;      ///< previous rank in the ring; -1 if there is only one rank
  int next = -1;
  std::vector<int> all() const;  ///< returns each neighbour once, in ascending order
};
/// Returns the neighbours of `rank` among `size` ranks. Pure function.
RabitLinks rabit_links(int rank, int size);

}  // namespace trainrt::program
