#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "program/rendezvous/meeting.hpp"
#include "program/services/exchange.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// Lets the programs of all ranks find each other in MPI_Init, if they call it: PMI-1, served to each by its rank over a
/// socket that it inherits, as mpiexec's Hydra does. What the programs put goes through an ExchangeServer of the first
/// rank's when they come to a barrier, and not before. MPI_Abort ends the program that calls it.
class PmiService : public Service {
 public:
  /// `port`: where the first rank listens; `listener`: on the first rank, what listens there.
  PmiService(const Meeting& meeting, int port, Descriptor listener);
  ~PmiService() override;

  int inherited() const override { return theirs_.get(); }
  void program_has_started(pid_t group) override;

 private:
  void serve(const Meeting& meeting);
  void end_program(int rank, int code) const;

  EndSignal end_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<pid_t> group_ = 0;  ///< of the program, once it has started
  ExchangePlace place_;
  std::unique_ptr<ExchangeServer> server_;
  Descriptor mine_;
  Descriptor theirs_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt::program
