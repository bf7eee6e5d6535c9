#pragma once
#include <memory>
#include <string_view>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// A communicator that measures how long this rank is in its calls, those of its base class and of its parts (split())
/// included. What it costs is two readings of the clock a call. What runs on a GPU's stream is not in a call.
class TimedCommunicator final : public Communicator {
 public:
  struct Times {
    double seconds = 0;  ///< in all calls so far
    double first_call_s =
        -1;  ///< when the first call since begin_step() began, by monotonic_seconds(); < 0: there was none
  };

  /// `inner` must live longer.
  explicit TimedCommunicator(Communicator& inner);

  const Times& times() const { return *times_; }
  /// `first_call_s`: when the step's first call began, if there was one.
  void begin_step(double first_call_s = -1) { times_->first_call_s = first_call_s; }

  std::string_view name() const override { return inner_.name(); }
  Ticket start(const Collective& collective) override;
  bool test(Ticket ticket) override;
  void wait(Ticket ticket) override;
  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  std::unique_ptr<Communicator> split(int color, int key) override;
  bool reaches(Device device) const override { return inner_.reaches(device); }
  Memory allocate(std::size_t bytes, Device device) override { return inner_.allocate(bytes, device); }
  void at_step(std::int64_t step) override { inner_.at_step(step); }

 private:
  class Call;
  TimedCommunicator(std::unique_ptr<Communicator> part, std::shared_ptr<Times> times);

  std::unique_ptr<Communicator> part_;  ///< inner_, if that is a part
  Communicator& inner_;
  std::shared_ptr<Times> times_;
};

}  // namespace trainrt::comm
