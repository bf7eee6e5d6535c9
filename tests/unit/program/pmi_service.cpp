#include "program/services/pmi_service.hpp"

#include <array>

#include <poll.h>
#include <sys/socket.h>
#include <catch2/catch.hpp>

#include "program/rendezvous/nonce.hpp"
#include "program/rendezvous/reserved_port.hpp"

using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

/// Services of ranks on one node, and the messages of their programs.
class Programs {
 public:
  explicit Programs(int size) {
    ReservedPort port;
    port.listen();
    Rendezvous rendezvous;
    rendezvous.size = size;
    rendezvous.nodes.assign(static_cast<std::size_t>(size), 0);
    rendezvous.addresses.assign(static_cast<std::size_t>(size), "127.0.0.1");
    rendezvous.secret = random_nonce();
    const int number = port.number();
    for (int rank = 0; rank < size; ++rank) {
      rendezvous.rank = rank;
      services_.push_back(
          std::make_unique<PmiService>(rendezvous, number, rank == 0 ? port.take() : trainrt::Descriptor()));
      sockets_.emplace_back(dup(services_.back()->inherited()));
      services_.back()->program_has_started(0);
    }
  }

  void say(std::size_t rank, const std::string& line) const {
    const auto text = line + "\n";
    CHECK(send(sockets_[rank].get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  /// Returns the answer to the program of `rank`, or "" if the service has ended or does not answer within 10 s.
  std::string hear(std::size_t rank) const {
    std::string line;
    pollfd waited{sockets_[rank].get(), POLLIN, 0};
    for (char next = 0; poll(&waited, 1, 10'000) == 1 && read(waited.fd, &next, 1) == 1 && next != '\n';) line += next;
    return line;
  }
  std::string ask(std::size_t rank, const std::string& line) const {
    say(rank, line);
    return hear(rank);
  }
  void end(std::size_t rank) { sockets_[rank] = trainrt::Descriptor(); }
  void end_service(std::size_t rank) { services_[rank].reset(); }

 private:
  std::vector<std::unique_ptr<PmiService>> services_;
  std::vector<trainrt::Descriptor> sockets_;
};

}  // namespace

TEST_CASE("after a barrier, programs get the values of the other ranks; they get the layout of the nodes") {
  const Programs programs(2);
  CHECK_THAT(programs.ask(0, "cmd=init pmi_version=1 pmi_subversion=1"), Contains("rc=0"));
  CHECK_THAT(programs.ask(1, "cmd=get_universe_size"), Contains("size=2"));
  CHECK_THAT(programs.ask(1, "cmd=get kvsname=a key=PMI_process_mapping"), Contains("value=(vector,(0,1,2))"));
  CHECK(programs.ask(0, "cmd=get_my_kvsname") == programs.ask(1, "cmd=get_my_kvsname"));
  for (int turn = 0; turn < 2; ++turn) {
    const auto card = "card" + std::to_string(turn);
    programs.ask(0, "cmd=put kvsname=a key=" + card + "-0 value=x=1#" + card);
    programs.ask(1, "cmd=put kvsname=a key=" + card + "-1 value=y");
    programs.say(0, "cmd=barrier_in");
    programs.say(1, "cmd=barrier_in");
    CHECK(programs.hear(0) == "cmd=barrier_out rc=0");
    CHECK(programs.hear(1) == "cmd=barrier_out rc=0");
    CHECK_THAT(programs.ask(1, "cmd=get kvsname=a key=" + card + "-0"), Contains("value=x=1#" + card));
    CHECK_THAT(programs.ask(0, "cmd=get kvsname=a key=" + card + "-1"), Contains("value=y"));
  }
  CHECK(programs.ask(0, "cmd=finalize") == "cmd=finalize_ack");
  CHECK(programs.ask(1, "cmd=finalize") == "cmd=finalize_ack");
}

TEST_CASE("a program that exits without MPI ends the waits for it, and no other waits") {
  Programs programs(2);
  programs.say(0, "cmd=barrier_in");
  programs.end(1);
  CHECK(programs.hear(0).empty());
}

TEST_CASE("programs that never call MPI block no service, and a service can end while its program waits") {
  Programs programs(3);
  programs.end(2);
  programs.say(1, "cmd=init pmi_version=1 pmi_subversion=1");
  CHECK_FALSE(programs.hear(1).empty());
  Programs waiting(2);
  waiting.say(1, "cmd=barrier_in");
  waiting.end_service(1);
  CHECK(waiting.hear(1).empty());
}
