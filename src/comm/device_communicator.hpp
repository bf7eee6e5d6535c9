#pragma once
#include <deque>
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "device/runtime.hpp"

namespace trainrt::comm {

/// A collective in progress in a DeviceCommunicator.
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;
  enum class Until { blocked, complete };
  /// Advances the collective until it has to wait, or with Until::complete waits for its completion, up to the timeout.
  /// Returns whether it is complete.
  virtual bool advance(Until until) = 0;
  /// Returns whether this collective has made all its calls to the communicator for host memory, so that the next
  /// collective may use it.
  virtual bool has_started_on_host() const { return true; }
};

/// A communicator for memory on one GPU and on the host. Collectives on host memory, strings and maxima are passed to
/// another communicator; derived classes implement the collectives on GPU memory.
///
/// Order on the GPU: a collective reads and writes its memory after all work that was enqueued on the GPU's default stream
/// before start(). After wait() returns, or test() returns true, work enqueued on the default stream runs after the
/// collective. The GPU may not have finished the collective by then, so the host can run ahead. Work on other streams must
/// be ordered with the default stream by its owner.
class DeviceCommunicator : public Communicator {
 public:
  DeviceCommunicator(std::unique_ptr<Communicator> host, device::Runtime& runtime, int gpu);

  Ticket start(const Collective& collective) final;
  bool test(Ticket ticket) final;
  void wait(Ticket ticket) final;
  void start_maximum(const Maximum& mine) override { host_->start_maximum(mine); }
  Maximum finish_maximum(std::string_view name) override { return host_->finish_maximum(name); }
  bool reaches(Device) const override { return true; }
  Memory allocate(std::size_t bytes, Device device) override;
  void at_step(std::int64_t step) override;

 protected:
  /// Starts a collective. The caller has checked that its arguments are valid and that its memory is on this communicator's
  /// GPU.
  virtual std::unique_ptr<DeviceCollective> begin(const Collective& collective) = 0;
  /// Throws Error if an earlier failure has made this communicator unusable.
  virtual void require_usable() {}

  Communicator& host() { return *host_; }
  device::Runtime& runtime() { return runtime_; }
  int gpu() const { return gpu_; }
  std::int64_t step() const { return step_; }
  /// Returns the GPU's default stream. The first call creates it; the GPU is not used before that.
  device::Stream& default_stream();

 private:
  void require_here(const Collective& collective);
  void require_here(const Collective& collective, const void* memory);
  void advance();

  std::unique_ptr<Communicator> host_;
  device::Runtime& runtime_;
  int gpu_;
  std::int64_t step_ = 0;
  std::unique_ptr<device::Stream> default_stream_;
  std::deque<std::unique_ptr<DeviceCollective>> in_progress_;
  Ticket started_ = 0;
  Ticket completed_ = 0;
};

}  // namespace trainrt::comm
