#include "comm/gpu_backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comm/comm_error.hpp"

namespace trainrt::comm {

namespace {

std::vector<const GpuBackend*> by_preference() {
  const auto table = gpu_backend_table();
  std::vector<const GpuBackend*> backends(table.begin(), table.end());
  std::ranges::stable_sort(backends, [](const auto* a, const auto* b) { return a->preference > b->preference; });
  return backends;
}

/// Returns the reason why `backend` is not selected by the option "auto"; empty if it is selected. Collective.
std::string why_skipped(const GpuBackend& backend, const Backend* host_backend, Communicator& host, const GpuRanks& ranks) {
  if (!backend.through_host && host.size() == 1) return "there is only one rank";
  if (!backend.through_host && host_backend != nullptr)
    return fmt::format("the backend '{}' was requested", host_backend->name);
  return backend.why_unavailable(host, ranks);
}

}  // namespace

void refuse_gpu_backend(const GpuBackend& backend, const std::string& why) {
  throw BackendRefused(fmt::format("the backend '{}' cannot be used: {}", backend.name, why));
}

GpuChoice choose_gpu_backend(Communicator& host, const GpuRanks& ranks) {
  const auto asked = find_backends(ranks.options.backend);
  if (asked.gpu != nullptr) {
    if (const auto why = asked.gpu->why_unavailable(host, ranks); !why.empty()) refuse_gpu_backend(*asked.gpu, why);
    return {*asked.gpu, asked.gpu->details(host, ranks)};
  }
  std::vector<std::string> reasons;
  for (const auto* backend : by_preference()) {
    if (backend->preference == 0) continue;
    const auto why = why_skipped(*backend, asked.host, host, ranks);
    if (why.empty()) {
      const auto words = backend->details(host, ranks);
      return {*backend, join(reasons, "; ") + (reasons.empty() || words.empty() ? "" : ": ") + words};
    }
    if (std::ranges::find(reasons, why) == reasons.end()) reasons.push_back(why);
  }
  throw Error(fmt::format("no GPU backend can be used for {} ranks: {}", host.size(), join(reasons, "; ")));
}

}  // namespace trainrt::comm
