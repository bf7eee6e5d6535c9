#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::device {

/// How many GPUs a worker asks for.
struct GpuRequest {
  bool automatic = true;  ///< what the node has, shared out evenly; none if it has none
  double each = 0;        ///< else so many a worker; a fraction: several workers share one
};
/// "auto" or a number: whole, or a fraction below 1. Throws GpusRefused for other text.
GpuRequest gpu_request_from(std::string_view text);

/// What one rank sees of GPUs: their UUIDs, in the order of CUDA's numbers. Slurm may show each task its own
/// (--gpus-per-task: then every task's first is number 0), or all of the node's to all.
using Visible = std::vector<std::string>;

struct Binding {
  std::vector<int> gpus;           ///< CUDA's numbers in that rank; empty: the rank computes on the CPU
  std::vector<std::string> uuids;  ///< of these
  bool operator==(const Binding&) const = default;
};

/// Which GPUs each rank of a node takes. `visible`: of the node's ranks, by local rank; ranks that see the same GPUs share
/// them out by their order. If there are fewer GPUs than ranks, auto lets ranks share one. GpusRefused if the request
/// cannot be met, with what to do; `why_none` is the reason of a rank that sees no GPU, for that message.
std::vector<Binding> bind_gpus(const std::vector<Visible>& visible, const GpuRequest& request,
                               std::string_view why_none = {});

}  // namespace trainrt::device
