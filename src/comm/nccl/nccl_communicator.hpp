#pragma once
#include <memory>

#include "comm/device_communicator.hpp"
#include "comm/element_range.hpp"
#include "comm/nccl/api.hpp"
#include "comm/nccl/nccl_handle.hpp"

namespace trainrt::comm::nccl {

struct NcclOptions {
  bool deterministic = false;
  double timeout_seconds = 1800;
};

/// Performs collectives on GPU memory with NCCL. Every rank must have its own GPU. The NCCL communicator, and a CUDA
/// context if the process has no context yet, are created only at the first collective on GPU memory.
///
/// The bits of the results:
/// - With NcclOptions::deterministic, sums follow the fixed binary tree over rank numbers, with the same bits as on the
/// CPU.
/// - Otherwise the bits of sums depend on the layout of ranks over GPUs and nodes.
/// - Minima and maxima of floats always follow the tree, because NCCL loses NaNs.
class NcclCommunicator : public DeviceCommunicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, std::shared_ptr<const Api> api, device::Runtime& runtime, int gpu,
                   const NcclOptions& options);

  std::string_view name() const override { return "nccl"; }
  std::unique_ptr<Communicator> split(int color, int key) override;

 private:
  std::unique_ptr<DeviceCollective> begin(const Collective& collective) override;
  void require_usable() override;
  void connect();
  void enqueue(const Collective& collective);

  void all_reduce(const Collective& collective);
  void reduce_scatter(const Collective& collective);
  void gather_ranges(const Collective& collective, const std::vector<ElementRange>& ranges, const void* own);
  void broadcast(const Collective& collective);

  bool must_follow_tree(const Collective& collective) const;
  void all_reduce_along_tree(const Collective& collective);
  void reduce_scatter_along_tree(const Collective& collective);
  void exchange_and_reduce(const Collective& collective, const std::vector<ElementRange>& pieces, void* out);
  void finish_integer_mean(const Collective& collective, void* values, std::size_t count);
  std::byte* scratch(std::size_t bytes);

  std::shared_ptr<const Api> api_;
  NcclOptions options_;
  std::unique_ptr<device::Stream> stream_;
  Memory scratch_;
  std::size_t scratch_bytes_ = 0;
  // Declared last, so that it is destroyed before the stream and the memory that NCCL uses.
  std::unique_ptr<NcclHandle> nccl_;
};

}  // namespace trainrt::comm::nccl
