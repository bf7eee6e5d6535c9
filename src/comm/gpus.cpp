#include "comm/gpus.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/gpu_backend.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "device/binding.hpp"
#include "device/device_error.hpp"
#include "device/runtime.hpp"

namespace trainrt::comm {

namespace {

/// A rank's report to the other ranks on the GPUs that it can use.
struct GpuReport {
  std::string host;
  std::string no_gpu_reason;
  device::GpuUuids gpus;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string gpu_report_text(device::Runtime& runtime) {
  std::string lines = host_name() + "\n";
  try {
    lines += one_line(runtime.no_gpu_reason()) + "\n";
    for (int gpu = 0; gpu < runtime.count(); ++gpu) lines += runtime.describe(gpu).uuid + "\n";
    return lines;
  } catch (const Error& error) {
    return host_name() + "\n" + one_line(error.what()) + "\n";
  }
}

std::vector<GpuReport> gather_gpu_reports(Communicator& host, device::Runtime& runtime) {
  std::vector<GpuReport> all;
  for (const auto& lines : host.all_gather(gpu_report_text(runtime))) {
    auto& report = all.emplace_back();
    std::istringstream stream(lines);
    std::getline(stream, report.host);
    std::getline(stream, report.no_gpu_reason);
    for (std::string uuid; std::getline(stream, uuid);) report.gpus.push_back(uuid);
  }
  return all;
}

/// Returns the assigned GPUs of each rank. `all`: the reports of all ranks. The result and the errors are the same on every
/// rank.
std::vector<device::Binding> bind_all(const std::vector<GpuReport>& all, const World& world,
                                      const device::GpuRequest& request) {
  std::map<int, std::vector<std::size_t>> nodes;
  for (std::size_t rank = 0; rank < all.size(); ++rank) nodes[world.node_of_rank[rank]].push_back(rank);
  std::vector<device::Binding> bindings(all.size());
  for (const auto& [node, ranks] : nodes) {
    std::vector<device::GpuUuids> visible;
    for (const auto rank : ranks) visible.push_back(all[rank].gpus);
    try {
      auto here = device::bind_gpus(visible, request, all[ranks.front()].no_gpu_reason);
      for (std::size_t i = 0; i < ranks.size(); ++i) bindings[ranks[i]] = std::move(here[i]);
    } catch (const device::GpusRefused& error) {
      throw device::GpusRefused(fmt::format("on {}: {}", all[ranks.front()].host, error.what()));
    }
  }
  return bindings;
}

void require_all_or_none(const std::vector<device::Binding>& bindings, const std::vector<GpuReport>& all) {
  const auto with = std::find_if(bindings.begin(), bindings.end(), [](const auto& b) { return !b.gpus.empty(); });
  const auto without = std::find_if(bindings.begin(), bindings.end(), [](const auto& b) { return b.gpus.empty(); });
  if (with == bindings.end() || without == bindings.end()) return;
  const auto lacking = static_cast<std::size_t>(without - bindings.begin());
  throw device::GpusRefused(fmt::format(
      "rank {} has a GPU, but rank {} on {} has no GPU: {}. Request GPUs on every node from the batch system",
      with - bindings.begin(), lacking, all[lacking].host,
      all[lacking].no_gpu_reason.empty() ? "other ranks of its node use all GPUs" : all[lacking].no_gpu_reason));
}

}  // namespace

void put_on_gpus(std::unique_ptr<Communicator>& communicator, World& world, const CommOptions& options,
                 std::string_view library) {
  auto& host = *communicator;
  auto& runtime = device::runtime();
  const auto request = device::gpu_request_from(options.gpus_per_worker.empty() ? "auto" : options.gpus_per_worker);
  const auto all = gather_gpu_reports(host, runtime);
  const auto bindings = bind_all(all, world, request);
  require_all_or_none(bindings, all);
  const auto& mine = bindings[static_cast<std::size_t>(host.rank())];
  if (const auto* asked = find_backends(options.backend).gpu; mine.gpus.empty() && asked != nullptr)
    refuse_gpu_backend(*asked, all.front().no_gpu_reason.empty() ? "no GPUs were requested for the workers"
                                                                 : "no GPU can be used: " + all.front().no_gpu_reason);
  world.gpus = mine.gpus;
  if (mine.gpus.empty()) return;

  const GpuRanks ranks{bindings, runtime, mine.gpus.front(), options, library};
  const auto [backend, explanation] = choose_gpu_backend(host, ranks);
  // GPU 0 is the default, so use() is not called for it. The call would create a CUDA context.
  if (ranks.gpu != 0) runtime.use(ranks.gpu);
  log::info(fmt::format("{} per worker; {}", counted(static_cast<std::int64_t>(mine.gpus.size()), "GPU"), explanation));
  communicator = backend.open(std::move(communicator), ranks);
  if (options.check) communicator = checked(std::move(communicator));
}

}  // namespace trainrt::comm
