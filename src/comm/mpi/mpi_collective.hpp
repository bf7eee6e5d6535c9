#pragma once
#include <string>

#include "comm/mpi/mpi_communicator.hpp"

namespace trainrt::comm {

/// A collective that MPI performs between all ranks, as a condition for a coroutine: true when the collective is complete.
class MpiCollective : public Awaited {
 public:
  MpiCollective(MpiCommunicator& mpi, const Collective& c) : mpi_(mpi), ticket_(mpi.start(c)), waiting_(mpi.roll_call()) {}
  bool ready() override { return mpi_.test(ticket_); }
  void sleep(double max_seconds) override { waiting_.sleep(max_seconds); }
  std::string missing() override { return waiting_.missing(); }

 private:
  MpiCommunicator& mpi_;
  Communicator::Ticket ticket_;
  MpiRequests waiting_;
};

}  // namespace trainrt::comm
