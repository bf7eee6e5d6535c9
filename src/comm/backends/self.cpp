// One rank: every collective is the identity.
#include <trainrt/communicators.hpp>

#include "comm/backend.hpp"
#include "comm/reduce.hpp"

namespace trainrt {

namespace comm::plugins {

namespace {

class SelfCommunicator : public Communicator {
 public:
  SelfCommunicator() : Communicator(0, 1) {}
  std::string_view name() const override { return "self"; }
  using Communicator::all_reduce;
  void all_reduce(Buffer buffer, Op) override { require_reducible(buffer.dtype); }
  void broadcast(Buffer, int) override {}
  std::vector<std::string> all_gather(std::string_view bytes) override { return {std::string(bytes)}; }
  void barrier() override {}
  void start_vote(const Vote& mine) override { vote_ = mine; }
  Vote finish_vote() override { return vote_; }

 private:
  Vote vote_{};
};

}  // namespace

extern const Backend self;
const Backend self{.name = "self",
                   .help = "one rank, no communication",
                   .preference = 10,
                   .viable = [](const launch::Launch& launch) { return launch.world().size == 1; },
                   .open = [](launch::Launch&, const CommOptions&) -> std::unique_ptr<Communicator> {
                     return std::make_unique<SelfCommunicator>();
                   }};

}  // namespace comm::plugins

std::unique_ptr<Communicator> self_communicator() { return std::make_unique<comm::plugins::SelfCommunicator>(); }

}  // namespace trainrt
