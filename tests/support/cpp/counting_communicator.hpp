#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include <trainrt/communicator.hpp>

namespace trainrt::test {

/// Number of collectives in which one rank took part.
struct Tally {
  std::int64_t reductions = 0;  ///< all_reduce, reduce_scatter
  std::int64_t gathers = 0;     ///< all_gather
  std::int64_t others = 0;      ///< broadcast, barrier
  std::int64_t maxima = 0;
  std::int64_t gathered_bytes = 0;  ///< written to this rank's memory by gathers and broadcasts

  std::int64_t collectives() const { return reductions + gathers + others + maxima; }
  friend Tally operator-(Tally a, const Tally& b) {
    a.reductions -= b.reductions;
    a.gathers -= b.gathers;
    a.others -= b.others;
    a.maxima -= b.maxima;
    a.gathered_bytes -= b.gathered_bytes;
    return a;
  }
};

/// Forwards all calls to another communicator, and counts this rank's calls.
class CountingCommunicator : public Communicator {
 public:
  explicit CountingCommunicator(std::unique_ptr<Communicator> inner)
      : Communicator(inner->rank(), inner->size()), inner_(std::move(inner)) {}

  const Tally& tally() const { return tally_; }

  std::string_view name() const override { return inner_->name(); }
  Ticket start(const Collective& collective) override {
    count(collective);
    return inner_->start(collective);
  }
  bool test(Ticket ticket) override { return inner_->test(ticket); }
  void wait(Ticket ticket) override { inner_->wait(ticket); }
  void start_maximum(const Maximum& mine) override {
    ++tally_.maxima;
    inner_->start_maximum(mine);
  }
  Maximum finish_maximum(std::string_view name) override { return inner_->finish_maximum(name); }
  std::unique_ptr<Communicator> split(int color, int key) override { return inner_->split(color, key); }
  bool reaches(Device device) const override { return inner_->reaches(device); }
  Memory allocate(std::size_t bytes, Device device) override { return inner_->allocate(bytes, device); }
  void at_step(std::int64_t step) override { inner_->at_step(step); }

 private:
  void count(const Collective& collective) {
    switch (collective.kind) {
      case Collective::Kind::all_reduce:
      case Collective::Kind::reduce_scatter:
        ++tally_.reductions;
        break;
      case Collective::Kind::all_gather:
        ++tally_.gathers;
        tally_.gathered_bytes += static_cast<std::int64_t>(collective.buffer.bytes());
        break;
      case Collective::Kind::broadcast:
        tally_.gathered_bytes += static_cast<std::int64_t>(collective.buffer.bytes());
        [[fallthrough]];
      case Collective::Kind::barrier:
        ++tally_.others;
        break;
    }
  }

  std::unique_ptr<Communicator> inner_;
  Tally tally_;
};

}  // namespace trainrt::test
