#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/mpi/mpi_roll_call.hpp"
#include "comm/queued_communicator.hpp"

namespace trainrt::comm {

/// A set of MPI requests in progress, as a condition for a coroutine: true when all requests are complete. While a thread
/// sleeps in a wait for the requests, it answers the questions of ranks that search for missing ranks (see MpiRollCall).
class MpiRequests : public Awaited {
 public:
  explicit MpiRequests(MpiRollCall& roll_call) : roll_call_(roll_call) {}
  static constexpr double max_sleep_s = 0.1;  ///< far less than the two seconds for which a roll call waits for answers

  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  bool ready() override;
  void sleep(double max_seconds) override;
  std::string missing() override;

 private:
  MpiRollCall& roll_call_;
  std::vector<MPI_Request> requests_;
  double first_sleep_s_ = 0;  ///< time of the first sleep(), by monotonic_seconds(); 0: before it
};

/// A communicator over MPI. Sums do not use MPI_Allreduce, because its order of additions depends on the layout of ranks
/// over nodes. They follow the fixed binary tree over rank numbers:
/// - Short buffers are reduced by recursive doubling (Thakur, Rabenseifner, Gropp 2005).
/// - For long buffers, each rank receives its share of the elements from all ranks, reduces the share and sends the result
///   to all ranks.
class MpiCommunicator : public QueuedCommunicator {
 public:
  /// The caller of MPI_Finalize: this communicator's destructor, the program, or nobody.
  enum class Finalize { with_communicator, by_program, never };

  /// Creates a communicator over the ranks of `parent`. Duplicates `parent`, so that messages of the two communicators are
  /// never matched. If `can_finalize` is set and returns false, the destructor does not finalize MPI. Collective.
  MpiCommunicator(MPI_Comm parent, double timeout_seconds, Finalize finalize, std::function<bool()> can_finalize = {});
  ~MpiCommunicator() override;

  std::string_view name() const override { return "mpi"; }
  void at_step(std::int64_t step) override;
  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  std::unique_ptr<Communicator> split(int color, int key) override { return split_mpi(color, key); }
  std::unique_ptr<MpiCommunicator> split_mpi(int color, int key);

  /// Makes the destructor neither wait for other ranks nor finalize MPI, because other ranks may have exited.
  void abandon() { abandoned_ = true; }

  MPI_Comm handle() const { return comm_; }
  MpiRollCall& roll_call() { return *roll_call_; }

 protected:
  CollectiveTask make_task(Collective collective) override;
  double on_long_wait(double) override { return MpiRequests::max_sleep_s; }

 private:
  CollectiveTask reduce_short(Buffer buffer, Op op, int tag);
  CollectiveTask reduce_long(Buffer buffer, Op op, int tag);
  CollectiveTask reduce_scatter_task(Collective c, int tag);
  CollectiveTask all_gather_task(Collective c, int tag);
  CollectiveTask broadcast_task(Collective c);
  CollectiveTask barrier_task(Collective c);

  Finalize finalize_;
  std::function<bool()> can_finalize_;
  bool abandoned_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm maximum_comm_ = MPI_COMM_NULL;
  std::unique_ptr<MpiRollCall> roll_call_;
  std::unique_ptr<MpiRequests> maximum_requests_;
  Maximum my_maximum_{};
  Maximum maximum_{};
  std::int64_t collectives_ = 0;
};

}  // namespace trainrt::comm
