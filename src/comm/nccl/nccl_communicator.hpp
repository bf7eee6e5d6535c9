#pragma once
#include <memory>

#include "comm/device_communicator.hpp"
#include "comm/nccl/api.hpp"
#include "comm/nccl/nccl_handle.hpp"

namespace trainrt::comm::nccl {

struct NcclOptions {
  bool deterministic = false;
  double timeout_seconds = 1800;
};

/// NCCL between ranks that each have a GPU of their own. NCCL's communicator is made at the first collective on device
/// memory, the host's communicator passing its id around: a run that has none pays nothing, not even for CUDA's context.
///
/// deterministic: sums are gathered and added along the one tree over rank numbers, with the bits that the CPU gives;
/// otherwise their bits hold for one layout of ranks over GPUs and nodes. min and max of floats always go that way, since
/// NCCL loses NaNs.
class NcclCommunicator : public DeviceCommunicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, std::shared_ptr<const Api> api, device::Runtime& runtime, int gpu,
                   const NcclOptions& options);

  std::string_view name() const override { return "nccl"; }
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  std::unique_ptr<Flight> flight_of(const Collective& collective) override;
  void require_whole() override;
  void connect();
  void enqueue(const Collective& collective);

  void all_reduce(const Collective& collective);
  void reduce_scatter(const Collective& collective);
  void all_gather(const Collective& collective);
  void broadcast(const Collective& collective);

  bool must_follow_tree(const Collective& collective) const;
  void all_reduce_along_tree(const Collective& collective);
  void reduce_scatter_along_tree(const Collective& collective);
  struct Piece {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  void exchange_and_reduce(const Collective& collective, const std::vector<Piece>& pieces, void* out);
  void finish_integer_mean(const Collective& collective, void* values, std::size_t count);
  std::byte* scratch(std::size_t bytes);

  std::shared_ptr<const Api> api_;
  NcclOptions options_;
  std::unique_ptr<device::Stream> stream_;
  Memory scratch_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<Link> link_;  // last: ends first
};

}  // namespace trainrt::comm::nccl
