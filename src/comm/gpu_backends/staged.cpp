// The GPU backend "staged": GPU memory is copied to the host and reduced on the host. This backend is always available.
#include "comm/gpu_backend.hpp"
#include "comm/staged_communicator.hpp"

namespace trainrt::comm::plugins {

extern const GpuBackend staged;
const GpuBackend staged{
    .name = "staged",
    .help = "GPU memory is copied to the host, reduced there, and copied back",
    .preference = 10,
    .through_host = true,
    .why_unavailable = [](Communicator&, const GpuRanks&) -> std::string { return ""; },
    .details = [](const Communicator& host, const GpuRanks&) -> std::string {
      return host.size() == 1 ? "" : "GPU memory is reduced on the host";
    },
    .open = [](std::unique_ptr<Communicator> host, const GpuRanks& ranks) -> std::unique_ptr<Communicator> {
      return std::make_unique<StagedCommunicator>(std::move(host), ranks.runtime, ranks.gpu, ranks.options.timeout_seconds);
    }};

}  // namespace trainrt::comm::plugins
