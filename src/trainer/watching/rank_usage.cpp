#include "trainer/watching/rank_usage.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/process/memory.hpp"
#include "core/process/processes.hpp"

namespace trainrt::trainer {

RankUsage::RankUsage(double since_s, bool is_first_of_node) : is_first_of_node_(is_first_of_node), usage_(since_s) {
  if (is_first_of_node_) energy_.emplace();
}

void RankUsage::set_gpus(std::unique_ptr<device::GpuMeter> gpus) {
  gpus_ = std::move(gpus);
  if (!gpus_) return;
  for (const auto& gpu : gpus_->read())
    if (gpu.energy_j) gpu_energy_before_[gpu.uuid] = *gpu.energy_j;
}

void RankUsage::sample(rundir::RankStatus& status) {
  const auto usage = usage_.sample();
  status.cpu_s = usage.cpu_s;
  status.rss = usage.rss;
  status.peak = usage.peak;
  status.read = usage.read;
  status.written = usage.written;
  sample_gpus(status);
  sample_energy(status);
}

/// Sets the GPU members of `status`. Utilization is the mean over the GPUs on which processes of this rank compute.
void RankUsage::sample_gpus(rundir::RankStatus& status) {
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
      if (const auto found = gpu.processes.find(process); found != gpu.processes.end() && found->second >= 0)
        status.gpu_memory = status.gpu_memory.value_or(0) + found->second;
    if (!is_own || !gpu.busy) continue;
    busy += *gpu.busy;
    ++count;
  }
  if (has_energy) gpu_energy_ = energy;
  if (count > 0) {
    status.gpu = std::clamp(busy / count, 0.0, 1.0);
    busy_sum_ += *status.gpu;
    ++busy_samples_;
  }
  if (busy_samples_ > 0) status.gpu_mean = busy_sum_ / busy_samples_;
}

void RankUsage::sample_energy(rundir::RankStatus& status) {
  if (!is_first_of_node_) return;
  const auto cpu_energy = energy_->sample();
  if (cpu_energy || gpu_energy_) status.energy_j = cpu_energy.value_or(0) + gpu_energy_.value_or(0);
  status.energy_of = cpu_energy && gpu_energy_ ? "cpu+gpu" : cpu_energy ? "cpu" : gpu_energy_ ? "gpu" : "";
}

std::string RankUsage::memory_warning() {
  constexpr double near = 0.95;
  if (!is_first_of_node_ || is_warned_) return {};
  const auto fullest = fullest_cgroup();
  if (!fullest || fullest->share() < near) return {};
  is_warned_ = true;
  return fmt::format(
      "the processes on {} use {:.0f} % of the memory that their cgroup allows ({} of {}); if the processes need more "
      "memory, the kernel kills one of them. Request more memory from the batch system (--mem), or use less",
      host_name(), 100 * fullest->share(), gibibytes(fullest->used), gibibytes(fullest->limit));
}

}  // namespace trainrt::trainer
