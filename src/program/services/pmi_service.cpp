#include "program/services/pmi_service.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "core/process/thread.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/pmi/process_mapping.hpp"

namespace trainrt::program {

namespace {

// Time limit of a PMI barrier, which is part of MPI_Init. The barrier waits for the slowest program, and a program may
// work for a long time before it calls MPI_Init.
constexpr double barrier_limit_s = 1800;

}  // namespace

PmiService::PmiService(const Rendezvous& rendezvous, int port, Descriptor listener)
    : exchange_{rendezvous.addresses.at(0), port, rendezvous.secret, rendezvous.rank, end_.get()} {
  if (listener)
    server_ =
        std::make_unique<ExchangeServer>(std::move(listener), rendezvous.size, rendezvous.secret,
                                         [rendezvous](const auto& address) { return is_of_this_run(rendezvous, address); });
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw Error(fmt::format("cannot create a socket for the program's MPI: {}", std::strerror(errno)));
  mine_ = Descriptor(pair[0]);
  theirs_ = Descriptor(pair[1]);
  thread_ = thread_without_signals([this, rendezvous] { serve(rendezvous); });
}

PmiService::~PmiService() {
  is_ending_ = true;
  end_.raise();
  shutdown(mine_.get(), SHUT_RDWR);
  thread_.join();
}

void PmiService::program_has_started(pid_t group) {
  theirs_ = Descriptor();
  group_ = group;
}

/// Kills the program after MPI_Abort, without an answer. MPI waits for the answer, and after an answer it would
/// continue in a broken state.
void PmiService::end_program(int rank, int code) const {
  fmt::print(stderr, "trainrt: the program of rank {} called MPI_Abort({}) and is killed\n", rank, code);
  while (group_ == 0 && !is_ending_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (group_ != 0 && !is_ending_) kill(-group_, SIGKILL);
}

void PmiService::serve(const Rendezvous& rendezvous) {
  bool has_finalized = false;
  std::string mine;
  std::vector<std::string> of_all;
  int round = 0;
  launch::PmiStore store{.rank = rendezvous.rank,
                         .size = rendezvous.size,
                         .space = "trainrt." + rendezvous.printed_secret.substr(0, 8),
                         .process_mapping = launch::mapping_of_nodes(rendezvous.nodes),
                         .put = [&](const std::string&, const std::string& value) { mine = value; },
                         .fence = [&] { of_all = exchange(exchange_, round++, mine, barrier_limit_s); },
                         .get = [&](int rank, const std::string&) { return of_all.at(static_cast<std::size_t>(rank)); },
                         .finalize = [&] { has_finalized = true; },
                         .abort = [&](int code) { end_program(rendezvous.rank, code); },
                         .fail =
                             [&](const std::string& why) {
                               if (!is_ending_)
                                 fmt::print(stderr, "trainrt: the program of rank {} cannot complete an MPI barrier: {}\n",
                                            rendezvous.rank, why);
                             }};
  launch::PmiServer(std::move(store)).serve(mine_.get());
  if (!has_finalized) leave_exchange(exchange_);
}

}  // namespace trainrt::program
