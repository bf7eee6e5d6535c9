#pragma once
#include <memory>
#include <string_view>

#include <trainrt/communicator.hpp>

namespace trainrt::comm {

/// A communicator that measures how long this rank is in its calls, those of its base class included. What it costs is two
/// readings of the clock a call. Parts of it (split()) are not measured.
class TimedCommunicator final : public Communicator {
 public:
  /// `inner` must live longer.
  explicit TimedCommunicator(Communicator& inner) : Communicator(inner.rank(), inner.size()), inner_(inner) {}

  double seconds() const { return seconds_; }  ///< in all calls so far
  /// When the first call since begin_step() began, by monotonic_seconds(); < 0: there was none.
  double first_call_s() const { return first_call_s_; }
  void begin_step() { first_call_s_ = -1; }

  std::string_view name() const override { return inner_.name(); }
  Ticket start(const Collective& collective) override;
  bool test(Ticket ticket) override;
  void wait(Ticket ticket) override;
  void start_maximum(const Maximum& mine) override;
  Maximum finish_maximum(std::string_view name) override;
  std::unique_ptr<Communicator> split(int color, int key) override { return inner_.split(color, key); }
  bool reaches(Device device) const override { return inner_.reaches(device); }
  Memory allocate(std::size_t bytes, Device device) override { return inner_.allocate(bytes, device); }
  void at_step(std::int64_t step) override { inner_.at_step(step); }

 private:
  class Call;

  Communicator& inner_;
  double seconds_ = 0, first_call_s_ = -1;
};

}  // namespace trainrt::comm
