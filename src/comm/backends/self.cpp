// The communication backend "self", for one rank: every collective copies its input to its output or does nothing.
#include <cstring>

#include <trainrt/communicators.hpp>

#include "comm/backend.hpp"
#include "comm/queued_communicator.hpp"

namespace trainrt {

namespace comm::plugins {

namespace {

class SelfCommunicator : public QueuedCommunicator {
 public:
  SelfCommunicator() : QueuedCommunicator(0, 1, 0) {}
  std::string_view name() const override { return "self"; }
  void start_maximum(const Maximum& mine) override { maximum_ = mine; }
  Maximum finish_maximum(std::string_view) override { return maximum_; }
  std::unique_ptr<Communicator> split(int color, int) override {
    return color < 0 ? nullptr : std::make_unique<SelfCommunicator>();
  }

 protected:
  CollectiveTask make_task(Collective c) override {
    const auto bytes = c.buffer.bytes();
    if (c.kind == Collective::Kind::reduce_scatter && bytes > 0) std::memmove(c.part, c.buffer.data, bytes);
    if (c.kind == Collective::Kind::all_gather && bytes > 0) std::memmove(c.buffer.data, c.part, bytes);
    co_return;
  }

 private:
  Maximum maximum_{};
};

}  // namespace

extern const Backend self;
const Backend self{.name = "self",
                   .help = "one rank, no communication",
                   .preference = 10,
                   .why_unavailable = [](const launch::Launch& launch) -> std::string {
                     return launch.world().size == 1 ? "" : "it supports one rank only";
                   },
                   .open = [](launch::Launch&, const CommOptions&) -> std::unique_ptr<Communicator> {
                     return std::make_unique<SelfCommunicator>();
                   }};

}  // namespace comm::plugins

std::unique_ptr<Communicator> self_communicator() { return std::make_unique<comm::plugins::SelfCommunicator>(); }

}  // namespace trainrt
