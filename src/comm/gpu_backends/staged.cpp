// What is on GPUs goes through the host: it serves if nothing else can.
#include "comm/gpu_backend.hpp"
#include "comm/staged_communicator.hpp"

namespace trainrt::comm::plugins {

extern const GpuBackend staged;
const GpuBackend staged{
    .name = "staged",
    .help = "what is on GPUs is copied to the host, reduced there, and copied back",
    .preference = 10,
    .through_host = true,
    .obstacle = [](Communicator&, const GpuRanks&) -> std::string { return ""; },
    .explained = [](const Communicator& host, const GpuRanks&) -> std::string {
      return host.size() == 1 ? "" : "what is on GPUs is reduced through the host";
    },
    .open = [](std::unique_ptr<Communicator> host, const GpuRanks& ranks) -> std::unique_ptr<Communicator> {
      return std::make_unique<StagedCommunicator>(std::move(host), ranks.runtime, ranks.gpu, ranks.options.timeout_seconds);
    }};

}  // namespace trainrt::comm::plugins
