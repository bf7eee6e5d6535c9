// Implementation of checked(): a communicator that wraps another one and compares the calls of all ranks before each
// collective.
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "comm/backend.hpp"
#include "comm/queued_communicator.hpp"
#include "core/mistake.hpp"

namespace trainrt::comm {

namespace {

/// The arguments of a collective call, without its data. Plain bytes, so that the calls of two ranks can be compared by
/// memcmp().
struct CallSignature {
  std::int64_t kind = 0, op = 0, dtype = 0, count = 0, root = 0, device = 0;
  std::uint64_t parts = 0;  ///< hash of Collective::counts, the number of elements of each rank's part
  char name[48] = {};
};

CallSignature signature_of(const Collective& c) {
  CallSignature call{static_cast<std::int64_t>(c.kind),
                     static_cast<std::int64_t>(c.op),
                     static_cast<std::int64_t>(c.buffer.dtype),
                     static_cast<std::int64_t>(c.buffer.count),
                     c.root,
                     static_cast<std::int64_t>(c.buffer.device)};
  for (const auto part : c.counts) call.parts = mix_seed(call.parts, part, 0);
  c.name.copy(call.name, sizeof call.name - 1);
  return call;
}

std::string described(const CallSignature& call) {
  auto text = call_text(static_cast<Collective::Kind>(call.kind), static_cast<std::uint64_t>(call.count),
                        static_cast<DType>(call.dtype), static_cast<Op>(call.op), static_cast<int>(call.root));
  if (call.parts != 0) text += fmt::format(", parts #{:x}", call.parts);
  if (call.name[0] != '\0') text += fmt::format(" '{}'", call.name);
  return text;
}

class CheckedCommunicator : public Communicator {
 public:
  explicit CheckedCommunicator(std::unique_ptr<Communicator> inner)
      : Communicator(inner->rank(), inner->size()), inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  Ticket start(const Collective& collective) override {
    compare(collective);
    return inner_->start(collective);
  }
  bool test(Ticket ticket) override { return inner_->test(ticket); }
  void wait(Ticket ticket) override { inner_->wait(ticket); }
  void start_maximum(const Maximum& mine) override { inner_->start_maximum(mine); }
  Maximum finish_maximum(std::string_view name) override { return inner_->finish_maximum(name); }
  std::unique_ptr<Communicator> split(int color, int key) override {
    auto part = inner_->split(color, key);
    return part ? checked(std::move(part)) : nullptr;
  }
  bool reaches(Device device) const override { return inner_->reaches(device); }
  Memory allocate(std::size_t bytes, Device device) override { return inner_->allocate(bytes, device); }
  Memory allocate_shared(std::size_t bytes) override { return inner_->allocate_shared(bytes); }
  void at_step(std::int64_t step) override {
    step_ = step;
    inner_->at_step(step);
  }

 private:
  void compare(const Collective& collective) {
    const auto mine = signature_of(collective);
    std::vector<CallSignature> all(static_cast<std::size_t>(size()));
    const std::vector<std::size_t> counts(all.size(), sizeof mine);
    inner_->all_gather(&mine, counts, Buffer{all.data(), all.size() * sizeof mine, DType::u8}, "check of the next call");
    for (std::size_t other = 1; other < all.size(); ++other)
      if (std::memcmp(&all[other], &all[0], sizeof mine) != 0)
        throw MistakeError(
            fmt::format(
                "the ranks do not make the same call at step {}: rank 0 called {}, rank {} called {} (reported by rank {})",
                step_, described(all[0]), other, described(all[other]), rank()),
            mistake_kind::calls_differ);
  }

  std::unique_ptr<Communicator> inner_;
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> checked(std::unique_ptr<Communicator> communicator) {
  return std::make_unique<CheckedCommunicator>(std::move(communicator));
}

}  // namespace trainrt::comm
