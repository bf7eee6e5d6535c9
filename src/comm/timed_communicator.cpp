#include "comm/timed_communicator.hpp"

#include <utility>

#include "core/host.hpp"

namespace trainrt::comm {

class TimedCommunicator::TimedCall {
 public:
  explicit TimedCall(CallTimes& times) : times_(times), began_s_(monotonic_seconds()) {
    if (times_.first_call_s < 0) times_.first_call_s = began_s_;
  }
  ~TimedCall() { times_.seconds += monotonic_seconds() - began_s_; }
  TimedCall(const TimedCall&) = delete;

 private:
  CallTimes& times_;
  double began_s_;
};

TimedCommunicator::TimedCommunicator(Communicator& inner)
    : Communicator(inner.rank(), inner.size()), inner_(inner), times_(std::make_shared<CallTimes>()) {}

TimedCommunicator::TimedCommunicator(std::unique_ptr<Communicator> part, std::shared_ptr<CallTimes> times)
    : Communicator(part->rank(), part->size()), part_(std::move(part)), inner_(*part_), times_(std::move(times)) {}

Communicator::Ticket TimedCommunicator::start(const Collective& collective) {
  const TimedCall call(*times_);
  return inner_.start(collective);
}

bool TimedCommunicator::test(Ticket ticket) {
  const TimedCall call(*times_);
  return inner_.test(ticket);
}

void TimedCommunicator::wait(Ticket ticket) {
  const TimedCall call(*times_);
  inner_.wait(ticket);
}

void TimedCommunicator::start_maximum(const Maximum& mine) {
  const TimedCall call(*times_);
  inner_.start_maximum(mine);
}

Communicator::Maximum TimedCommunicator::finish_maximum(std::string_view name) {
  const TimedCall call(*times_);
  return inner_.finish_maximum(name);
}

std::unique_ptr<Communicator> TimedCommunicator::split(int color, int key) {
  auto part = inner_.split(color, key);
  if (!part) return part;
  return std::unique_ptr<Communicator>(new TimedCommunicator(std::move(part), times_));
}

}  // namespace trainrt::comm
