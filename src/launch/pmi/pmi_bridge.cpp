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

bool needs_bridge(const std::string& library_version) {
  return library_version.find("MPICH") != std::string::npos && library_version.find("--with-pmix") == std::string::npos;
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
  setenv("PMI_FD", std::to_string(pair[0]).c_str(), 1);
  setenv("PMI_RANK", std::to_string(rank_).c_str(), 1);
  setenv("PMI_SIZE", std::to_string(size_).c_str(), 1);
  thread_ = std::thread([this] { server_.serve(server_socket_); });
}

void PmiBridge::hide() {
  server_.end_start();
  for (const auto* variable : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) unsetenv(variable);
}

}  // namespace trainrt::launch
