// The GPU backend "nccl": NCCL reduces memory between the GPUs of the ranks.
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

/// Returns an error message if two ranks communicate on the same GPU, which NCCL does not support, otherwise "".
std::string shared_gpu(const std::vector<device::Binding>& bindings) {
  std::map<std::string, std::size_t> taken;
  for (std::size_t rank = 0; rank < bindings.size(); ++rank)
    if (const auto [found, is_new] = taken.try_emplace(bindings[rank].uuids.front(), rank); !is_new)
      return fmt::format(
          "ranks {} and {} share a GPU, which NCCL does not support (start at most one worker per GPU of a node)",
          found->second, rank);
  return "";
}

/// Tries to load the NCCL library on all ranks. Returns the error message of the lowest rank that cannot load it, or "".
/// Collective.
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

std::string why_nccl_is_unavailable(Communicator& host, const GpuRanks& ranks) {
  const auto shared = shared_gpu(ranks.bindings);
  return shared.empty() ? missing_library(host, ranks) : shared;
}

std::string nccl_explained(const Communicator&, const GpuRanks& ranks) {
  return fmt::format("NCCL {} reduces between the GPUs{}", load_nccl(ranks)->version_text(),
                     ranks.options.deterministic ? "; sums have the same bits for every layout of ranks over nodes"
                                                 : "; sums may be rounded differently in another layout of ranks "
                                                   "over GPUs and nodes, unless deterministic sums are requested");
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
                      .help = "NCCL between the ranks' GPUs; host memory is reduced by the backend for host memory",
                      .preference = 20,
                      .through_host = false,
                      .why_unavailable = why_nccl_is_unavailable,
                      .details = nccl_explained,
                      .open = open_nccl};

}  // namespace trainrt::comm::plugins
