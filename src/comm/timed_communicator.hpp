#pragma once
#include <memory>
#include <string_view>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// A communicator that forwards its calls to another one and measures the time that this rank spends in the calls. Calls of
/// communicators that split() returned are included. GPU work that continues after a call has returned is not measured.
class TimedCommunicator final : public Communicator {
 public:
  struct CallTimes {
    double seconds = 0;  ///< total time spent in calls, in seconds
    /// Start time of the first call since begin_step(), in monotonic_seconds(); negative if there was no call yet.
    double first_call_s = -1;
  };

  /// Forwards calls to `inner`, which must outlive this object.
  explicit TimedCommunicator(Communicator& inner);

  const CallTimes& times() const { return *times_; }
  /// Begins a training step. `first_call_s`: start of the step's first call if that call was made before begin_step(),
  /// otherwise a negative number.
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
  Memory allocate_shared(std::size_t bytes) override { return inner_.allocate_shared(bytes); }
  void at_step(std::int64_t step) override { inner_.at_step(step); }

 private:
  class TimedCall;
  TimedCommunicator(std::unique_ptr<Communicator> part, std::shared_ptr<CallTimes> times);

  std::unique_ptr<Communicator> part_;  ///< owns inner_ if split() created it, otherwise nullptr
  Communicator& inner_;
  std::shared_ptr<CallTimes> times_;
};

}  // namespace trainrt::comm
