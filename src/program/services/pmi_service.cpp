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

// A rank may prepare for long before it calls MPI_Init, and the others wait for it there.
constexpr double barrier_limit_s = 1800;

}  // namespace

PmiService::PmiService(const Meeting& meeting, int port, Descriptor listener)
    : place_{meeting.addresses.at(0), port, meeting.secret, meeting.rank, end_.get()} {
  if (listener)
    server_ = std::make_unique<ExchangeServer>(std::move(listener), meeting.size, meeting.secret,
                                               [meeting](const auto& address) { return is_of(meeting, address); });
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw Error(fmt::format("no socket can be had for the program's MPI: {}", std::strerror(errno)));
  mine_ = Descriptor(pair[0]);
  theirs_ = Descriptor(pair[1]);
  thread_ = thread_without_signals([this, meeting] { serve(meeting); });
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

/// MPI waits to be killed once it has asked for its end, and goes on in a broken state if it is answered.
void PmiService::end_program(int rank, int code) const {
  fmt::print(stderr, "trainrt: the program of rank {} has called MPI_Abort with {}, and is killed\n", rank, code);
  while (group_ == 0 && !is_ending_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (group_ != 0 && !is_ending_) kill(-group_, SIGKILL);
}

void PmiService::serve(const Meeting& meeting) {
  bool has_finalized = false;
  std::string mine;
  std::vector<std::string> of_all;
  int round = 0;
  launch::PmiStore store{.rank = meeting.rank,
                         .size = meeting.size,
                         .space = "trainrt." + meeting.printed_secret.substr(0, 8),
                         .process_mapping = launch::mapping_of_nodes(meeting.nodes),
                         .put = [&](const std::string&, const std::string& value) { mine = value; },
                         .fence = [&] { of_all = exchange(place_, round++, mine, barrier_limit_s); },
                         .get = [&](int rank, const std::string&) { return of_all.at(static_cast<std::size_t>(rank)); },
                         .finalize = [&] { has_finalized = true; },
                         .abort = [&](int code) { end_program(meeting.rank, code); },
                         .fail =
                             [&](const std::string& why) {
                               if (!is_ending_)
                                 fmt::print(stderr,
                                            "trainrt: the program of rank {} waited in MPI for the others, in vain: {}\n",
                                            meeting.rank, why);
                             }};
  launch::PmiServer(std::move(store)).serve(mine_.get());
  if (!has_finalized) leave_exchange(place_);
}

}  // namespace trainrt::program
