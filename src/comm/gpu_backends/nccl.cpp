// NCCL between the ranks' GPUs. auto takes it if it can be had; by name it is an order.
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/gpu_backend.hpp"
#include "comm/nccl/nccl_communicator.hpp"
#include "core/host.hpp"

namespace trainrt::comm::plugins {

namespace {

std::shared_ptr<const comm::nccl::Api> load_nccl(const GpuRanks& ranks) {
  return comm::nccl::load(ranks.library.empty() ? comm::nccl::library_name : ranks.library);
}

/// Why NCCL refuses these ranks; "" if it does not.
std::string shared_gpu(const std::vector<device::Binding>& bindings) {
  std::map<std::string, std::size_t> taken;
  for (std::size_t rank = 0; rank < bindings.size(); ++rank)
    if (const auto [found, is_new] = taken.try_emplace(bindings[rank].uuids.front(), rank); !is_new)
      return fmt::format(
          "ranks {} and {} share a GPU, and NCCL refuses two ranks on one (start as many workers on a node as "
          "it has GPUs)",
          found->second, rank);
  return "";
}

/// The first rank's failure to load it; "" if all can.
std::string missing_library(Communicator& host, const GpuRanks& ranks) {
  std::string mine;
  try {
    load_nccl(ranks);
  } catch (const Error& error) {
    mine = fmt::format("rank {} on {}: {}", host.rank(), host_name(), error.what());
  }
  for (const auto& failure : host.all_gather(mine))
    if (!failure.empty()) return failure;
  return "";
}

std::string nccl_obstacle(Communicator& host, const GpuRanks& ranks) {
  const auto shared = shared_gpu(ranks.bindings);
  return shared.empty() ? missing_library(host, ranks) : shared;
}

std::string nccl_explained(const Communicator&, const GpuRanks& ranks) {
  return fmt::format("NCCL {} reduces between them{}", load_nccl(ranks)->version_text(),
                     ranks.options.deterministic
                         ? ", along the one tree over ranks: the same bits on any layout"
                         : ": bits hold for one layout of ranks over GPUs and nodes (deterministic sums hold for any)");
}

std::unique_ptr<Communicator> open_nccl(std::unique_ptr<Communicator> host, const GpuRanks& ranks) {
  return std::make_unique<comm::nccl::NcclCommunicator>(
      std::move(host), load_nccl(ranks), ranks.runtime, ranks.gpu,
      comm::nccl::NcclOptions{.deterministic = ranks.options.deterministic,
                              .timeout_seconds = ranks.options.timeout_seconds});
}

}  // namespace

extern const GpuBackend nccl;
const GpuBackend nccl{.name = "nccl",
                      .help = "NCCL between the ranks' GPUs; what is on the host goes as it would without it",
                      .preference = 20,
                      .through_host = false,
                      .obstacle = nccl_obstacle,
                      .explained = nccl_explained,
                      .open = open_nccl};

}  // namespace trainrt::comm::plugins
