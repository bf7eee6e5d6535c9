#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::device {

/// The number of GPUs that each worker requests.
struct GpuRequest {
  bool automatic = true;  ///< divide the GPUs of the node evenly among its workers; zero GPUs are allowed
  double per_worker = 0;  ///< if not automatic: GPUs per worker; with a fraction several workers share one GPU
};
/// Parses "auto", a non-negative integer or a fraction below 1. Throws GpusRefused for other text.
GpuRequest gpu_request_from(std::string_view text);

/// The UUIDs of the GPUs that one rank can use, in the order of CUDA's device numbers. With Slurm's --gpus-per-task each
/// task sees only its own GPUs, numbered from 0; otherwise all tasks of a node may see all its GPUs.
using GpuUuids = std::vector<std::string>;

/// The GPUs that are assigned to one rank.
struct Binding {
  std::vector<int> gpus;           ///< CUDA's device numbers in that rank; empty if the rank computes on the CPU
  std::vector<std::string> uuids;  ///< UUIDs of `gpus`, in the same order
  bool operator==(const Binding&) const = default;
};

/// Assigns GPUs to the ranks of one node. `visible`: the GPUs that each rank can use, by local rank. Ranks that see the
/// same GPUs divide them in rank order; with an automatic request, several ranks share a GPU if there are fewer GPUs than
/// ranks. `no_gpu_reason`: why ranks see no GPU, for messages. Throws GpusRefused, with advice, if the request
/// cannot be met.
std::vector<Binding> bind_gpus(const std::vector<GpuUuids>& visible, const GpuRequest& request,
                               std::string_view no_gpu_reason = {});

}  // namespace trainrt::device
