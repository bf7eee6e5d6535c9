#pragma once
#include <vector>

#include "comm/device_communicator.hpp"

namespace trainrt::comm {

/// Collectives on a GPU's memory without NCCL, for ranks that share a GPU (NCCL refuses these) and if NCCL is missing:
/// copied into pinned memory of the host, done there, copied back. Same bits as on the host. One rank alone copies nothing.
class StagedCommunicator : public DeviceCommunicator {
 public:
  StagedCommunicator(std::unique_ptr<Communicator> host, device::Runtime& runtime, int gpu, double timeout_seconds);
  ~StagedCommunicator() override;

  std::string_view name() const override { return name_; }  ///< of the backend on the host
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  class Journey;
  struct Staging {
    Memory memory;
    std::size_t bytes = 0;
  };
  std::unique_ptr<Flight> flight_of(const Collective& collective) override;
  void alone(const Collective& collective);
  device::Stream& stream();
  Staging take(std::size_t bytes);
  void await(device::Event& event, const Collective& collective);

  std::string name_;
  double timeout_seconds_;
  std::unique_ptr<device::Stream> stream_;
  std::vector<Staging> free_;  // of these the last copies may still be under way, on the stream
};

}  // namespace trainrt::comm
