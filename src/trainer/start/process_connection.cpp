#include "trainer/start/process_connection.hpp"

#include <cstdlib>

#include <unistd.h>

#include "core/output/log.hpp"

namespace trainrt::trainer {

namespace {

ProcessConnection* shared_connection = nullptr;
pid_t connected_process = 0;

void disconnect() {
  if (getpid() != connected_process) return;  // this process is a forked child, which inherited the exit handler
  try {
    shared_connection->communicator.reset();
    shared_connection->launch->finalize();
  } catch (const std::exception& error) {
    log::warning(std::string("the process could not disconnect from the other ranks: ") + error.what());
  }
}

}  // namespace

ProcessConnection& process_connection(const LoadedConfig& config) {
  if (shared_connection != nullptr) return *shared_connection;
  auto connection = std::make_unique<ProcessConnection>();
  connection->launch = connect_to_launcher(Environment::of_process(), config);
  try {
    connection->communicator = connect_ranks(*connection->launch, config);
  } catch (const std::exception&) {
    if (connection->launch->world().size == 1) throw;
    static_cast<void>(abort_step(*connection->launch));
    throw;
  }
  shared_connection = connection.release();
  connected_process = getpid();
  std::atexit(disconnect);
  return *shared_connection;
}

}  // namespace trainrt::trainer
