#include "comm/timed_communicator.hpp"

#include "core/host.hpp"

namespace trainrt::comm {

class TimedCommunicator::Call {
 public:
  explicit Call(TimedCommunicator& communicator) : communicator_(communicator), began_s_(monotonic_seconds()) {
    if (communicator_.first_call_s_ < 0) communicator_.first_call_s_ = began_s_;
  }
  ~Call() { communicator_.seconds_ += monotonic_seconds() - began_s_; }
  Call(const Call&) = delete;

 private:
  TimedCommunicator& communicator_;
  double began_s_;
};

Communicator::Ticket TimedCommunicator::start(const Collective& collective) {
  const Call call(*this);
  return inner_.start(collective);
}

bool TimedCommunicator::test(Ticket ticket) {
  const Call call(*this);
  return inner_.test(ticket);
}

void TimedCommunicator::wait(Ticket ticket) {
  const Call call(*this);
  inner_.wait(ticket);
}

void TimedCommunicator::start_maximum(const Maximum& mine) {
  const Call call(*this);
  inner_.start_maximum(mine);
}

Communicator::Maximum TimedCommunicator::finish_maximum(std::string_view name) {
  const Call call(*this);
  return inner_.finish_maximum(name);
}

}  // namespace trainrt::comm
