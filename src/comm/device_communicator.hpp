#pragma once
#include <deque>
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "device/runtime.hpp"

namespace trainrt::comm {

/// A collective operation that a DeviceCommunicator has started, on GPU or host memory.
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;
  enum class Until { blocked, complete };
  /// Until::blocked: advances the collective until it would have to wait. Until::complete: waits for its completion, up to
  /// the timeout. Returns whether the collective is complete.
  virtual bool advance(Until until) = 0;
  /// Returns whether this collective has made all its calls to the communicator for host memory. The next collective may
  /// call that communicator only after the result is true.
  virtual bool has_started_on_host() const { return true; }
};

/// A communicator for memory on one GPU and on the host. Collectives on host memory, strings and maxima are passed to
/// another communicator, the one for host memory. Derived classes implement the collectives on GPU memory.
///
/// Order of the work on the GPU:
/// - A collective reads and writes its memory after all work that was enqueued on the GPU's default stream before start().
/// - Work that is enqueued on the default stream after wait() returned, or after test() returned true, runs after the
///   collective. The GPU may not have finished the collective by then, so the host can run ahead.
/// - Work on other streams must be ordered with the default stream by its owner.
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
  Memory allocate_shared(std::size_t bytes) override { return host_->allocate_shared(bytes); }
  void at_step(std::int64_t step) override;

 protected:
  /// Starts a collective on GPU memory. Requires that its arguments are valid and that its memory is on this communicator's
  /// GPU.
  virtual std::unique_ptr<DeviceCollective> begin(const Collective& collective) = 0;
  /// Throws Error if an earlier failure has made this communicator unusable.
  virtual void require_usable() {}

  Communicator& host() { return *host_; }
  device::Runtime& runtime() { return runtime_; }
  int gpu() const { return gpu_; }
  std::int64_t step() const { return step_; }
  /// Returns the default stream of this communicator's GPU. Before the first call, the GPU is not used.
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
