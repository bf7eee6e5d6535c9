#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/mpi/mpi_roll_call.hpp"
#include "comm/queued_communicator.hpp"

namespace trainrt::comm {

/// Messages under way. While it waits it answers other ranks that ask who is there.
class MpiRequests : public Awaited {
 public:
  /// `peer`: the only rank that is waited for, -1 for several.
  explicit MpiRequests(MpiRollCall& roll_call, int peer = -1) : roll_call_(roll_call), peer_(peer) {}
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void clear() { requests_.clear(); }

  bool ready() override;
  void sleep(double most_seconds) override;
  std::string missing() override;

 private:
  MpiRollCall& roll_call_;
  int peer_;
  std::vector<MPI_Request> requests_;
};

/// MPI between the ranks. Sums do not use MPI_Allreduce, whose order of additions depends on the layout over nodes: they
/// follow the one tree over rank numbers, by recursive doubling for short buffers (Thakur, Rabenseifner, Gropp 2005) and by
/// exchange of stretches, local tree and all-gather for long ones.
class MpiCommunicator : public QueuedCommunicator {
 public:
  /// Who ends MPI: this communicator, the program, or nobody: it ends with the process.
  enum class Finalize { with_communicator, by_program, never };

  /// Over the ranks of `parent`, which is duplicated, so that messages never mix. Collective.
  MpiCommunicator(MPI_Comm parent, double timeout_seconds, Finalize finalize);
  ~MpiCommunicator() override;

  std::string_view name() const override { return "mpi"; }
  void at_step(std::int64_t step) override;
  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  std::unique_ptr<Communicator> split(int color, int key) override { return split_mpi(color, key); }
  std::unique_ptr<MpiCommunicator> split_mpi(int color, int key);

  /// The other ranks are not there any more: its end waits for nobody, and leaves MPI as it is.
  void abandon() { abandoned_ = true; }

  MPI_Comm handle() const { return comm_; }
  MpiRollCall& roll_call() { return *roll_call_; }

 protected:
  Task task_of(Collective collective) override;

 private:
  Task all_reduce_task(Collective c, int tag);
  Task reduce_short(Buffer buffer, Op op, int tag);
  Task reduce_long(Buffer buffer, Op op, int tag);
  Task reduce_scatter_task(Collective c, int tag);
  Task all_gather_task(Collective c, int tag);
  Task broadcast_task(Collective c);
  Task barrier_task(Collective c);

  Finalize finalize_;
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
