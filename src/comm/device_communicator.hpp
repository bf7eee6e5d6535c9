#pragma once
#include <deque>
#include <memory>
#include <string>

#include <trainrt/communicator.hpp>

#include "device/runtime.hpp"

namespace trainrt::comm {

/// A collective under way in a DeviceCommunicator.
class Flight {
 public:
  virtual ~Flight() = default;
  /// Goes on as far as it can; with Until::complete it waits, with a limit. True once it is complete.
  enum class Until { blocked, complete };
  virtual bool advance(Until until) = 0;
  /// The communicator on the host has got all that it will get of this one: the next may use it.
  virtual bool has_passed_host() const { return true; }
};

/// A communicator for memory on one GPU and on the host. All that is on the host, texts and maxima too, goes through
/// another communicator underneath; what is on the GPU is up to the classes derived from this.
///
/// Order on the GPU: a collective reads and writes its memory after all that the GPU's default stream had been given before
/// start(). wait() returns when what the default stream is given from then on comes after the collective; the GPU itself
/// may still be at it, so that the host runs ahead. The same holds once test() has said that it is complete. Who works on
/// other streams orders these with the default stream himself.
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
  /// Everything lies on this communicator's GPU, and is valid.
  virtual std::unique_ptr<Flight> flight_of(const Collective& collective) = 0;
  /// Throws if a failure has left this communicator useless.
  virtual void require_whole() {}

  Communicator& host() { return *host_; }
  device::Runtime& runtime() { return runtime_; }
  int gpu() const { return gpu_; }
  std::int64_t step() const { return step_; }
  /// The GPU's default stream. What is made on first use touches the GPU then, not before.
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
  std::deque<std::unique_ptr<Flight>> flights_;
  Ticket started_ = 0;
  Ticket completed_ = 0;
};

}  // namespace trainrt::comm
