#include "trainer/watching/rank_usage.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/process/memory.hpp"
#include "core/process/processes.hpp"

namespace trainrt::trainer {

RankUsage::RankUsage(double since_s, bool of_node) : of_node_(of_node), usage_(since_s) {
  if (of_node_) energy_.emplace();
}

void RankUsage::take_gpus(std::unique_ptr<device::GpuMeter> gpus) {
  gpus_ = std::move(gpus);
  if (!gpus_) return;
  for (const auto& gpu : gpus_->read())
    if (gpu.energy_j) gpu_energy_before_[gpu.uuid] = *gpu.energy_j;
}

void RankUsage::look(rundir::RankStatus& sign) {
  const auto usage = usage_.sample();
  sign.cpu_s = usage.cpu_s;
  sign.rss = usage.rss;
  sign.peak = usage.peak;
  sign.read = usage.read;
  sign.written = usage.written;
  look_at_gpus(sign);
  look_at_energy(sign);
}

/// Its GPUs are those that its processes compute on.
void RankUsage::look_at_gpus(rundir::RankStatus& sign) {
  if (!gpus_) return;
  const auto processes = process_tree(getpid());
  double busy = 0, energy = 0;
  int count = 0;
  bool has_energy = false;
  for (const auto& gpu : gpus_->read()) {
    if (const auto before = gpu_energy_before_.find(gpu.uuid); gpu.energy_j && before != gpu_energy_before_.end()) {
      energy += std::max(0.0, *gpu.energy_j - before->second);
      has_energy = true;
    }
    const bool is_own = std::ranges::any_of(processes, [&](pid_t process) { return gpu.processes.contains(process); });
    for (const pid_t process : processes)
      if (const auto on_it = gpu.processes.find(process); on_it != gpu.processes.end() && on_it->second >= 0)
        sign.gpu_memory = sign.gpu_memory.value_or(0) + on_it->second;
    if (!is_own || !gpu.busy) continue;
    busy += *gpu.busy;
    ++count;
  }
  if (has_energy) gpu_energy_ = energy;
  if (count > 0) {
    sign.gpu = std::clamp(busy / count, 0.0, 1.0);
    busy_sum_ += *sign.gpu;
    ++busy_looks_;
  }
  if (busy_looks_ > 0) sign.gpu_mean = busy_sum_ / busy_looks_;
}

void RankUsage::look_at_energy(rundir::RankStatus& sign) {
  if (!of_node_) return;
  const auto of_cpus = energy_->sample();
  if (of_cpus || gpu_energy_) sign.energy_j = of_cpus.value_or(0) + gpu_energy_.value_or(0);
  sign.energy_of = of_cpus && gpu_energy_ ? "cpu+gpu" : of_cpus ? "cpu" : gpu_energy_ ? "gpu" : "";
}

std::string RankUsage::memory_warning() {
  constexpr double near = 0.95;
  if (!of_node_ || is_warned_) return {};
  const auto fullest = fullest_cgroup();
  if (!fullest || fullest->share() < near) return {};
  is_warned_ = true;
  return fmt::format(
      "the processes on {} have {:.0f} % of the memory that their cgroup allows ({} of {}): the kernel kills "
      "one of them if they need more. Ask the batch system for more memory (--mem), or use less",
      host_name(), 100 * fullest->share(), gibibytes(fullest->used), gibibytes(fullest->limit));
}

}  // namespace trainrt::trainer
