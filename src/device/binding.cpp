#include "device/binding.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "device/device_error.hpp"

namespace trainrt::device {

namespace {

/// A group of local ranks that see the same GPUs.
struct Peers {
  const GpuUuids& gpus;
  std::vector<std::size_t> ranks;

  int gpu_count() const { return static_cast<int>(gpus.size()); }
  int rank_count() const { return static_cast<int>(ranks.size()); }
};

std::vector<Peers> peers_of(const std::vector<GpuUuids>& visible) {
  std::map<GpuUuids, std::size_t> group_of;
  std::vector<Peers> groups;
  for (std::size_t rank = 0; rank < visible.size(); ++rank) {
    const auto [found, is_new] = group_of.try_emplace(visible[rank], groups.size());
    if (is_new) groups.push_back({visible[rank], {}});
    groups[found->second].ranks.push_back(rank);
  }
  return groups;
}

/// Throws GpusRefused if two groups of ranks see some but not all GPUs in common, because such GPUs cannot be divided
/// evenly among the ranks.
void require_disjoint(const std::vector<Peers>& groups) {
  std::map<std::string, std::size_t> seen_by;  // UUID of a GPU -> lowest local rank of the group that sees the GPU
  for (const auto& group : groups)
    for (const auto& gpu : group.gpus)
      if (const auto [found, is_new] = seen_by.try_emplace(gpu, group.ranks.front()); !is_new)
        throw GpusRefused(
            fmt::format("local ranks {} and {} see some GPUs in common, but not all. "
                        "Set the same CUDA_VISIBLE_DEVICES for all ranks of a node, "
                        "or give each rank its own GPUs (srun --gpus-per-task)",
                        found->second, group.ranks.front()));
}

Binding binding_of(const Peers& peers, int first, int count) {
  Binding binding;
  for (int gpu = first; gpu < first + count; ++gpu) {
    binding.gpus.push_back(gpu);
    binding.uuids.push_back(peers.gpus[static_cast<std::size_t>(gpu)]);
  }
  return binding;
}

/// Returns the GPUs of one rank. `number`: index of the rank among the ranks that see the same GPUs.
Binding share_of(const Peers& peers, int number, const GpuRequest& request) {
  const int gpus = peers.gpu_count();
  const int ranks = peers.rank_count();
  if (request.automatic && gpus >= ranks) return binding_of(peers, number * (gpus / ranks), gpus / ranks);
  if (request.automatic) return binding_of(peers, number * gpus / ranks, 1);
  if (request.per_worker < 1) return binding_of(peers, number / static_cast<int>(1 / request.per_worker + 1e-9), 1);
  return binding_of(peers, number * static_cast<int>(request.per_worker), static_cast<int>(request.per_worker));
}

/// Formats a number of GPUs: "1 GPU", "2 GPUs" or "0.5 GPU".
std::string gpus_text(double count) { return fmt::format("{} GPU{}", count, count > 1 ? "s" : ""); }

void require_enough(const Peers& peers, const GpuRequest& request, std::string_view no_gpu_reason) {
  if (request.automatic) return;
  const int gpus = peers.gpu_count();
  const int ranks = peers.rank_count();
  if (gpus == 0)
    throw GpusRefused(
        fmt::format("{} per worker requested, but local rank {} sees no GPU{}{}. "
                    "Request GPUs from the batch system (srun --gpus-per-node=N)",
                    gpus_text(request.per_worker), peers.ranks.front(), no_gpu_reason.empty() ? "" : ": ", no_gpu_reason));
  const auto per_gpu = request.per_worker < 1 ? static_cast<int>(1 / request.per_worker + 1e-9) : 1;
  const int needed =
      request.per_worker < 1 ? (ranks + per_gpu - 1) / per_gpu : ranks * static_cast<int>(request.per_worker);
  if (needed > gpus)
    throw GpusRefused(
        fmt::format("{} per worker requested: {} of a node need{} {}, but the node has {}. Start fewer workers per node",
                    gpus_text(request.per_worker), counted(ranks, "worker"), ranks == 1 ? "s" : "", gpus_text(needed),
                    gpus_text(gpus)));
}

}  // namespace

GpuRequest gpu_request_from(std::string_view text) {
  if (text == "auto") return {};
  std::size_t end = 0;
  double per_worker = -1;
  try {
    per_worker = std::stod(std::string(text), &end);
  } catch (const std::exception&) {
  }
  constexpr double max_per_worker = 1024;
  const bool is_number = end == text.size() && per_worker >= 0 && per_worker <= max_per_worker;
  if (!is_number || (per_worker > 1 && per_worker != std::floor(per_worker)))
    throw GpusRefused(
        fmt::format("invalid number of GPUs per worker: '{}'. "
                    "Valid: auto, an integer, or a fraction below 1 (0.5: two workers share a GPU)",
                    text));
  return {.automatic = false, .per_worker = per_worker};
}

std::vector<Binding> bind_gpus(const std::vector<GpuUuids>& visible, const GpuRequest& request,
                               std::string_view no_gpu_reason) {
  std::vector<Binding> bindings(visible.size());
  if (!request.automatic && request.per_worker == 0) return bindings;
  const auto groups = peers_of(visible);
  require_disjoint(groups);
  for (const auto& group : groups) {
    require_enough(group, request, no_gpu_reason);
    if (group.gpus.empty()) continue;
    for (std::size_t number = 0; number < group.ranks.size(); ++number)
      bindings[group.ranks[number]] = share_of(group, static_cast<int>(number), request);
  }
  return bindings;
}

}  // namespace trainrt::device
