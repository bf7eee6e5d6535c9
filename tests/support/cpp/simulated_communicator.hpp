#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "comm/reduce.hpp"
#include "support/cpp/simulation.hpp"

namespace trainrt::test {

/// The data that simulated ranks exchange.
struct SimulatedNetwork {
  struct Exchange {
    std::vector<std::string> parts;  // of each rank
    int arrived = 0, taken = 0;
  };
  std::map<std::uint64_t, Exchange> exchanges;  // by the number of the collective
};

/// A Communicator of the ranks of a Simulation.
class SimulatedCommunicator : public Communicator {
 public:
  SimulatedCommunicator(int rank, Simulation& simulation, SimulatedNetwork& network)
      : Communicator(rank, simulation.size()), simulation_(simulation), network_(network) {}

  std::string_view name() const override { return "simulated"; }
  Ticket start(const Collective& collective) override {
    started_[next_] = collective;
    const auto bytes =
        collective.kind == Collective::Kind::all_gather
            ? std::string_view(static_cast<const char*>(collective.part),
                               collective.counts[static_cast<std::size_t>(rank())] * size_of(collective.buffer.dtype))
            : std::string_view(static_cast<const char*>(collective.buffer.data), collective.buffer.bytes());
    return contribute(bytes);
  }
  bool test(Ticket ticket) override {
    simulation_.step("test");
    return network_.exchanges[ticket].arrived == size();
  }
  void wait(Ticket ticket) override {
    const auto& exchange = await(ticket);
    finish(started_.at(ticket), exchange.parts);
    started_.erase(ticket);
    take(ticket);
  }
  void start_maximum(const Maximum& mine) override {
    maximum_ = contribute({reinterpret_cast<const char*>(mine.data()), sizeof mine});
  }
  Maximum finish_maximum(std::string_view) override {
    Maximum result;
    result.fill(std::numeric_limits<std::int64_t>::min());
    for (const auto& part : await(maximum_).parts) {
      Maximum other;
      std::memcpy(other.data(), part.data(), sizeof other);
      std::ranges::transform(result, other, result.begin(), [](auto a, auto b) { return std::max(a, b); });
    }
    take(maximum_);
    return result;
  }
  std::unique_ptr<Communicator> split(int, int) override { throw std::logic_error("split() is not simulated"); }

 private:
  Ticket contribute(std::string_view bytes) {
    simulation_.step("enter a collective");
    auto& exchange = network_.exchanges[next_];
    exchange.parts.resize(static_cast<std::size_t>(size()));
    exchange.parts[static_cast<std::size_t>(rank())] = bytes;
    ++exchange.arrived;
    return next_++;
  }
  const SimulatedNetwork::Exchange& await(Ticket ticket) {
    simulation_.wait_until([&] { return network_.exchanges[ticket].arrived == size(); });
    simulation_.step("leave a collective");
    return network_.exchanges[ticket];
  }
  void take(Ticket ticket) {
    if (++network_.exchanges[ticket].taken == size()) network_.exchanges.erase(ticket);
  }
  void finish(const Collective& collective, const std::vector<std::string>& parts) {
    auto* out = static_cast<char*>(collective.buffer.data);
    using Kind = Collective::Kind;
    if (collective.kind == Kind::broadcast) {
      std::memcpy(out, parts[static_cast<std::size_t>(collective.root)].data(), collective.buffer.bytes());
    } else if (collective.kind == Kind::all_gather) {
      for (const auto& part : parts) out = std::copy(part.begin(), part.end(), out);
    } else if (collective.kind == Kind::all_reduce) {
      std::vector<const std::byte*> inputs;
      for (const auto& part : parts) inputs.push_back(reinterpret_cast<const std::byte*>(part.data()));
      std::vector<std::byte> copy(collective.buffer.bytes());
      std::byte* const result[] = {copy.data()};
      comm::reduce_to(inputs, result, collective.buffer.count, collective.buffer.dtype, collective.op,
                      comm::tree_steps(size()), size());
      std::memcpy(out, copy.data(), copy.size());
    } else if (collective.kind == Kind::reduce_scatter) {
      throw std::logic_error("reduce_scatter() is not simulated");
    }
  }

  Simulation& simulation_;
  SimulatedNetwork& network_;
  Ticket next_ = 1, maximum_ = 0;
  std::map<Ticket, Collective> started_;
};

}  // namespace trainrt::test
