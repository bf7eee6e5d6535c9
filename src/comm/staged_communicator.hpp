#pragma once
#include <vector>

#include "comm/device_communicator.hpp"

namespace trainrt::comm {

/// Performs collectives on GPU memory without NCCL: copies the data to pinned host memory, runs the collective in the
/// wrapped communicator for host memory, and copies the result back. Results have the same bits as on the host. With a
/// single rank, nothing is copied to the host.
///
/// Used if NCCL cannot be loaded, or if ranks share a GPU, which NCCL does not support.
class StagedCommunicator : public DeviceCommunicator {
 public:
  StagedCommunicator(std::unique_ptr<Communicator> host, device::Runtime& runtime, int gpu, double timeout_seconds);
  ~StagedCommunicator() override;

  std::string_view name() const override { return name_; }  ///< name of the wrapped communicator's backend
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  class StagedCollective;
  struct Staging {
    Memory memory;
    std::size_t bytes = 0;
  };
  std::unique_ptr<DeviceCollective> begin(const Collective& collective) override;
  void alone(const Collective& collective);
  device::Stream& stream();
  Staging take(std::size_t bytes);
  void await(device::Event& event, const Collective& collective);

  std::string name_;
  double timeout_seconds_;
  std::unique_ptr<device::Stream> stream_;
  std::vector<Staging> free_;  // pinned buffers for reuse; copies already enqueued on stream_ may still access them
};

}  // namespace trainrt::comm
