#include "launch/pmi/pmi_bridge.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt::launch {

bool needs_bridge(const std::string& library_version, const Environment& environment) {
  const auto contains = [&](const char* text) { return library_version.find(text) != std::string::npos; };
  if (contains("Intel(R) MPI")) return !environment.has("I_MPI_PMI_LIBRARY") && !environment.has("I_MPI_PMI");
  return contains("MPICH") && !contains("--with-pmix");
}

PmiBridge::PmiBridge(PmiStore store) : rank_(store.rank), size_(store.size), server_(std::move(store)) {}

PmiBridge::~PmiBridge() {
  if (server_socket_ < 0) return;
  shutdown(server_socket_, SHUT_RDWR);  // ends PmiServer::serve() if MPI has not been finalized
  thread_.join();
  close(server_socket_);
}

void PmiBridge::start() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    throw Error(std::string("PMI bridge: socketpair failed: ") + std::strerror(errno));
  // Child processes must not inherit the sockets of the bridge. The PMI client is this process itself.
  for (const int end : pair)
    if (fcntl(end, F_SETFD, FD_CLOEXEC) != 0) throw Error("PMI bridge: fcntl failed");
  server_socket_ = pair[1];
  const auto set = [&](const char* variable, const std::string& value) {
    setenv(variable, value.c_str(), 1);
    variables_.emplace_back(variable);
  };
  set("PMI_FD", std::to_string(pair[0]));
  set("PMI_RANK", std::to_string(rank_));
  set("PMI_SIZE", std::to_string(size_));
  if (std::getenv("MPIR_CVAR_PMI_VERSION") == nullptr) set("MPIR_CVAR_PMI_VERSION", "1");
  thread_ = std::thread([this] { server_.serve(server_socket_); });
}

void PmiBridge::hide() {
  server_.end_start();
  for (const auto& variable : variables_) unsetenv(variable.c_str());
}

}  // namespace trainrt::launch
