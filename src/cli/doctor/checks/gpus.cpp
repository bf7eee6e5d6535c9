// Which GPUs the ranks would take: what scaling.gpus_per_worker asks for, out
// of what they see.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Json look_at_gpus() {
  auto& runtime = device::runtime();
  Json uuids = Json::array();
  for (int gpu = 0; gpu < runtime.count(); ++gpu) uuids.push_back(runtime.describe(gpu).uuid);
  return {{"uuids", uuids}, {"why_none", runtime.no_gpu_reason()}};
}

/// Of the ranks of one node.
std::vector<device::Binding> bind_node(const Examination& examination, const Answers& answers, int node) {
  std::vector<device::GpuUuids> visible;
  std::string no_gpu_reason;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    if (examination.world().node_of_rank[rank] != node) continue;
    visible.push_back(answers.of_rank[rank].at("uuids").get<device::GpuUuids>());
    if (visible.back().empty()) no_gpu_reason = answers.of_rank[rank].at("why_none");
  }
  return device::bind_gpus(visible, device::gpu_request_from(examination.gpus_per_worker()), no_gpu_reason);
}

/// How many GPUs the ranks have, and whether any two share one.
struct Use {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  bool shared = false;

  void add(const std::vector<device::Binding>& node) {
    std::set<std::string> taken;
    for (const auto& binding : node) {
      least = std::min(least, binding.gpus.size());
      most = std::max(most, binding.gpus.size());
      for (const auto& uuid : binding.uuids) shared = !taken.insert(uuid).second || shared;
    }
  }
};

Finding examine_gpus(const Examination& examination) {
  const auto answers = examination.ask(look_at_gpus);
  if (!answers.well()) return error(examination.describe(answers.troubles), "see `cuda`");
  Use use;
  for (int node = 0; node < examination.world().node_count; ++node) {
    try {
      use.add(bind_node(examination, answers, node));
    } catch (const UsageError& failure) {
      return error(
          fmt::format("{}: {}", examination.host_of_node(static_cast<std::size_t>(node)), trainer::with_advice(failure)),
          "a run with this config cannot start here");
    }
  }
  const Json figures = {{"least_gpus_a_rank", use.least}, {"most_gpus_a_rank", use.most}, {"shared", use.shared}};
  if (use.most == 0) return ok("none: the ranks compute on the CPU", figures);
  const auto number = use.least == use.most ? fmt::format("{}", use.most) : fmt::format("{} to {}", use.least, use.most);
  if (use.least == 0)
    return error(fmt::format("{} GPUs a rank: some ranks have none", number),
                 "ask for GPUs for all ranks alike (srun --gpus-per-node or "
                 "--gpus-per-task)",
                 figures);
  if (use.shared)
    return warning("ranks share a GPU: there are more of them on a node than GPUs",
                   "start as many ranks a node as it has GPUs", figures);
  return ok(fmt::format("{} GPU{} a rank", number, use.most == 1 ? "" : "s"), figures);
}

}  // namespace

extern const Check gpus;
const Check gpus{
    .name = "gpus", .help = "GPUs a rank, as scaling.gpus_per_worker takes them", .place = 90, .run = examine_gpus};

}  // namespace trainrt::cli::doctor::plugins
