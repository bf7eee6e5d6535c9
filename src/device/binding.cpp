#include "device/binding.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "device/device_error.hpp"

namespace trainrt::device {

namespace {

/// Ranks of a node that see the same GPUs.
struct Peers {
  const Visible& gpus;
  std::vector<std::size_t> ranks;

  int gpu_count() const { return static_cast<int>(gpus.size()); }
  int rank_count() const { return static_cast<int>(ranks.size()); }
};

std::vector<Peers> peers_of(const std::vector<Visible>& visible) {
  std::map<Visible, std::size_t> group_of;
  std::vector<Peers> groups;
  for (std::size_t rank = 0; rank < visible.size(); ++rank) {
    const auto [found, is_new] = group_of.try_emplace(visible[rank], groups.size());
    if (is_new) groups.push_back({visible[rank], {}});
    groups[found->second].ranks.push_back(rank);
  }
  return groups;
}

/// Groups that share some GPUs and not others cannot be shared out fairly.
void require_apart(const std::vector<Peers>& groups) {
  std::map<std::string, std::size_t> seen_by;  // the first rank of the group that sees a GPU
  for (const auto& group : groups)
    for (const auto& gpu : group.gpus)
      if (const auto [found, is_new] = seen_by.try_emplace(gpu, group.ranks.front()); !is_new)
        throw GpusRefused(
            fmt::format("local ranks {} and {} see some GPUs in common and others not: set CUDA_VISIBLE_DEVICES "
                        "alike for all ranks of a node, or give each its own (srun --gpus-per-task)",
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

/// The GPUs of the rank of that number among its peers.
Binding share_of(const Peers& peers, int number, const GpuRequest& request) {
  const int gpus = peers.gpu_count();
  const int ranks = peers.rank_count();
  if (request.automatic && gpus >= ranks) return binding_of(peers, number * (gpus / ranks), gpus / ranks);
  if (request.automatic) return binding_of(peers, number * gpus / ranks, 1);
  if (request.each < 1) return binding_of(peers, number / static_cast<int>(1 / request.each + 1e-9), 1);
  return binding_of(peers, number * static_cast<int>(request.each), static_cast<int>(request.each));
}

/// "1 GPU", "2 GPUs", "0.5 GPU"
std::string gpus_text(double count) { return fmt::format("{} GPU{}", count, count > 1 ? "s" : ""); }

void require_enough(const Peers& peers, const GpuRequest& request, std::string_view why_none) {
  if (request.automatic) return;
  const int gpus = peers.gpu_count();
  const int ranks = peers.rank_count();
  if (gpus == 0)
    throw GpusRefused(
        fmt::format("asked for {} a worker: local rank {} sees no GPU{}{}. Ask the batch system for GPUs (srun "
                    "--gpus-per-node=N)",
                    gpus_text(request.each), peers.ranks.front(), why_none.empty() ? "" : ": ", why_none));
  const auto per_gpu = request.each < 1 ? static_cast<int>(1 / request.each + 1e-9) : 1;
  const int needed = request.each < 1 ? (ranks + per_gpu - 1) / per_gpu : ranks * static_cast<int>(request.each);
  if (needed > gpus)
    throw GpusRefused(
        fmt::format("asked for {} a worker: {} of a node need{} {}, and {} there. Start fewer workers on a node",
                    gpus_text(request.each), counted(ranks, "worker"), ranks == 1 ? "s" : "", gpus_text(needed),
                    gpus == 1 ? "1 is" : fmt::format("{} are", gpus)));
}

}  // namespace

GpuRequest gpu_request_from(std::string_view text) {
  if (text == "auto") return {};
  std::size_t end = 0;
  double each = -1;
  try {
    each = std::stod(std::string(text), &end);
  } catch (const std::exception&) {
  }
  constexpr double most = 1024;
  const bool is_number = end == text.size() && each >= 0 && each <= most;
  if (!is_number || (each > 1 && each != std::floor(each)))
    throw GpusRefused(fmt::format(
        "asked for '{}' GPUs a worker: it is auto, a whole number, or a fraction below 1 (0.5: two workers share a GPU)",
        text));
  return {.automatic = false, .each = each};
}

std::vector<Binding> bind_gpus(const std::vector<Visible>& visible, const GpuRequest& request, std::string_view why_none) {
  std::vector<Binding> bindings(visible.size());
  if (!request.automatic && request.each == 0) return bindings;
  const auto groups = peers_of(visible);
  require_apart(groups);
  for (const auto& group : groups) {
    require_enough(group, request, why_none);
    if (group.gpus.empty()) continue;
    for (std::size_t number = 0; number < group.ranks.size(); ++number)
      bindings[group.ranks[number]] = share_of(group, static_cast<int>(number), request);
  }
  return bindings;
}

}  // namespace trainrt::device
