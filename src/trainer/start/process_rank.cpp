#include "trainer/start/process_rank.hpp"

#include <cstdlib>

#include <unistd.h>

#include "core/output/log.hpp"

namespace trainrt::trainer {

namespace {

ProcessRank* the_rank = nullptr;
pid_t its_process = 0;

void disconnect() {
  if (getpid() != its_process) return;  // a forked child, which inherited the exit handler
  try {
    the_rank->communicator.reset();
    the_rank->launch->finalize();
  } catch (const std::exception& error) {
    log::warning(std::string("the process could not disconnect from the other ranks: ") + error.what());
  }
}

}  // namespace

ProcessRank& process_rank(const LoadedConfig& config) {
  if (the_rank != nullptr) return *the_rank;
  auto rank = std::make_unique<ProcessRank>();
  rank->launch = connect_to_launcher(Environment::of_process(), config);
  try {
    rank->communicator = connect_ranks(*rank->launch, config);
  } catch (const std::exception&) {
    if (rank->launch->world().size == 1) throw;
    static_cast<void>(abort_step(*rank->launch));
    throw;
  }
  the_rank = rank.release();
  its_process = getpid();
  std::atexit(disconnect);
  return *the_rank;
}

}  // namespace trainrt::trainer
