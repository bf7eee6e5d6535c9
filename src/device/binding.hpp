#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::device {

/// The requested number of GPUs per worker (rank).
struct GpuRequest {
  bool automatic = true;  ///< true: the GPUs of a node are divided evenly among its workers; a node without GPUs is allowed
  /// Number of GPUs per worker if `automatic` is false. A fraction such as 0.5 lets several workers share one GPU.
  double per_worker = 0;
};
/// Parses a number of GPUs per worker: "auto", an integer from 0 to 1024, or a fraction below 1. Throws GpusRefused for any
/// other text.
GpuRequest gpu_request_from(std::string_view text);

/// The UUIDs of the GPUs that one rank can use, in the order of CUDA's device numbers. With Slurm's --gpus-per-task, each
/// task sees only its own GPUs, numbered from 0. Without this option, all tasks of a node may see all GPUs of the node.
using GpuUuids = std::vector<std::string>;

/// The GPUs that are assigned to one rank.
struct Binding {
  /// CUDA device numbers of the assigned GPUs in the rank's process; empty if the rank computes on the CPU.
  std::vector<int> gpus;
  std::vector<std::string> uuids;  ///< UUIDs of the GPUs in `gpus`, in the same order
  bool operator==(const Binding&) const = default;
};

/// Assigns the GPUs of one node to the node's ranks. Returns one Binding per rank, by local rank.
/// - `visible`: the GPUs that each rank can use, by local rank. Ranks that see the same GPUs divide them in rank order.
/// - `request`: GPUs per rank. With an automatic request, several ranks share a GPU if there are fewer GPUs than ranks.
/// - `no_gpu_reason`: the reason why ranks see no GPU, for error messages.
///
/// Throws GpusRefused, with advice, if the node has too few GPUs for the request, or if two ranks see some but not all GPUs
/// in common.
std::vector<Binding> bind_gpus(const std::vector<GpuUuids>& visible, const GpuRequest& request,
                               std::string_view no_gpu_reason = {});

}  // namespace trainrt::device
