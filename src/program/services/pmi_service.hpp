#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/exchange.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// Lets the programs of all ranks form one MPI_COMM_WORLD when they call MPI_Init. Each rank serves the PMI-1 protocol
/// to its program over an inherited socket, as the launcher Hydra (mpiexec) does. When the programs enter a PMI
/// barrier, an ExchangeServer on rank 0 exchanges the values that they have published. If a program calls MPI_Abort,
/// its rank kills the program.
class PmiService : public Service {
 public:
  /// `port`: port of the ExchangeServer on rank 0. `listener`: listening socket of the ExchangeServer on rank 0, empty
  /// on all other ranks.
  PmiService(const Rendezvous& rendezvous, int port, Descriptor listener);
  ~PmiService() override;

  int inherited() const override { return theirs_.get(); }
  void program_has_started(pid_t group) override;

 private:
  void serve(const Rendezvous& rendezvous);
  void end_program(int rank, int code) const;

  EndSignal end_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<pid_t> group_ = 0;  ///< process group of the program; 0 before it has started
  ExchangeAddress exchange_;
  std::unique_ptr<ExchangeServer> server_;
  Descriptor mine_;
  Descriptor theirs_;
  std::thread thread_;  // declared last because it uses the other members
};

}  // namespace trainrt::program
