#include "trainer/start/process_rank.hpp"

#include <cstdlib>

#include <unistd.h>

#include "batch/signals.hpp"
#include "core/output/log.hpp"

namespace trainrt::trainer {

namespace {

ProcessRank* the_rank = nullptr;
pid_t its_process = 0;

void leave() {
  if (getpid() != its_process) return;  // a child that was forked is no rank
  try {
    the_rank->communicator.reset();
    the_rank->launch->finalize();
  } catch (const std::exception& error) {
    log::warning(std::string("at the end of the process: ") + error.what());
  }
}

}  // namespace

ProcessRank& process_rank(const Prepared& prepared) {
  if (the_rank != nullptr) return *the_rank;
  auto rank = std::make_unique<ProcessRank>();
  rank->launch = find_ranks(Environment::of_process(), launch_options_of(prepared));
  try {
    rank->communicator = comm::open_communicator(*rank->launch, comm_options_of(prepared));
  } catch (const std::exception&) {
    if (rank->launch->world().size == 1) throw;
    static_cast<void>(end_step(*rank->launch));
    throw;
  }
  batch::install_stop_signals();  // again: MPI_Init takes SIGUSR1
  the_rank = rank.release();
  its_process = getpid();
  std::atexit(leave);
  return *the_rank;
}

}  // namespace trainrt::trainer
