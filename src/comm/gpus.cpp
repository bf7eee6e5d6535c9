#include "comm/gpus.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/nccl/nccl_communicator.hpp"
#include "comm/staged_communicator.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"

namespace trainrt::comm {

namespace {

/// What a rank sees, as it tells the others.
struct Sight {
  std::string host;
  std::string why_none;
  device::Visible gpus;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string told(device::Runtime& runtime) {
  std::string lines = host_name() + "\n";
  try {
    lines += one_line(runtime.why_none()) + "\n";
    for (int gpu = 0; gpu < runtime.count(); ++gpu) lines += runtime.describe(gpu).uuid + "\n";
    return lines;
  } catch (const Error& error) {
    return host_name() + "\n" + one_line(error.what()) + "\n";
  }
}

std::vector<Sight> seen_by_all(Communicator& host, device::Runtime& runtime) {
  std::vector<Sight> all;
  for (const auto& lines : host.all_gather(told(runtime))) {
    auto& sight = all.emplace_back();
    std::istringstream stream(lines);
    std::getline(stream, sight.host);
    std::getline(stream, sight.why_none);
    for (std::string uuid; std::getline(stream, uuid);) sight.gpus.push_back(uuid);
  }
  return all;
}

/// All ranks' bindings, the same on every rank; so are the errors.
std::vector<device::Binding> bind_all(const std::vector<Sight>& all, const World& world,
                                      const device::GpuRequest& request) {
  std::map<int, std::vector<std::size_t>> nodes;
  for (std::size_t rank = 0; rank < all.size(); ++rank) nodes[world.node_of_rank[rank]].push_back(rank);
  std::vector<device::Binding> bindings(all.size());
  for (const auto& [node, ranks] : nodes) {
    std::vector<device::Visible> visible;
    for (const auto rank : ranks) visible.push_back(all[rank].gpus);
    try {
      auto here = device::bind_gpus(visible, request, all[ranks.front()].why_none);
      for (std::size_t i = 0; i < ranks.size(); ++i) bindings[ranks[i]] = std::move(here[i]);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("on {}: {}", all[ranks.front()].host, error.what()));
    }
  }
  return bindings;
}

void require_all_or_none(const std::vector<device::Binding>& bindings, const std::vector<Sight>& all) {
  const auto with = std::find_if(bindings.begin(), bindings.end(), [](const auto& b) { return !b.gpus.empty(); });
  const auto without = std::find_if(bindings.begin(), bindings.end(), [](const auto& b) { return b.gpus.empty(); });
  if (with == bindings.end() || without == bindings.end()) return;
  const auto lacking = static_cast<std::size_t>(without - bindings.begin());
  throw UsageError(
      fmt::format("rank {} has a GPU and rank {} on {} has none: {}. Ask the batch system for GPUs on every node, or set "
                  "scaling.gpus_per_worker = 0 to train on the CPU",
                  with - bindings.begin(), lacking, all[lacking].host,
                  all[lacking].why_none.empty() ? "others of its node have taken them" : all[lacking].why_none));
}

/// Why NCCL refuses these ranks; "" if it does not.
std::string sharing(const std::vector<device::Binding>& bindings) {
  std::map<std::string, std::size_t> taken;
  for (std::size_t rank = 0; rank < bindings.size(); ++rank)
    if (const auto [found, is_new] = taken.try_emplace(bindings[rank].uuids.front(), rank); !is_new)
      return fmt::format(
          "ranks {} and {} share a GPU, and NCCL refuses two ranks on one (start as many workers on a node as "
          "it has GPUs)",
          found->second, rank);
  return "";
}

struct Loaded {
  std::shared_ptr<const nccl::Api> api;
  std::string failure;  ///< of the first rank that has one
};
Loaded load_everywhere(Communicator& host, std::string_view library) {
  Loaded loaded;
  std::string failure;
  try {
    loaded.api = nccl::load(library);
  } catch (const Error& error) {
    failure = fmt::format("rank {} on {}: {}", host.rank(), host_name(), error.what());
  }
  for (const auto& text : host.all_gather(failure))
    if (loaded.failure.empty()) loaded.failure = text;
  return loaded;
}

std::string explained(const device::Binding& mine, const std::string& way) {
  return fmt::format("{} a worker; {}", mine.gpus.size() == 1 ? "1 GPU" : fmt::format("{} GPUs", mine.gpus.size()), way);
}

void say_nccl(const nccl::Api& api, const device::Binding& mine, bool deterministic) {
  log::info(explained(
      mine, fmt::format("NCCL {} reduces between them{}", api.version_text(),
                        deterministic ? ", along the one tree over ranks: the same bits on any layout"
                                      : ": bits hold for one layout of ranks over GPUs and nodes (scaling.deterministic = "
                                        "true makes them hold for any)")));
}

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError(fmt::format("scaling.backend = nccl cannot serve here: {}. Set it to auto for the best that can", why));
}

bool must_be_nccl(const CommOptions& options) { return options.backend == "nccl"; }
bool may_be_nccl(const CommOptions& options, const Communicator& host) {
  return must_be_nccl(options) || (host.size() > 1 && (options.backend.empty() || options.backend == "auto"));
}

/// NCCL's library, or why it is not to be used, the same on all ranks.
Loaded nccl_for(Communicator& host, const std::vector<device::Binding>& bindings, const CommOptions& options,
                std::string_view library) {
  if (!may_be_nccl(options, host))
    return {nullptr, host.size() == 1 ? "there is nothing to reduce with" : "scaling.backend says " + options.backend};
  Loaded loaded{nullptr, sharing(bindings)};
  if (loaded.failure.empty()) loaded = load_everywhere(host, library);
  if (!loaded.failure.empty() && must_be_nccl(options)) refuse(loaded.failure);
  return loaded;
}

}  // namespace

void put_on_gpus(std::unique_ptr<Communicator>& communicator, World& world, const CommOptions& options,
                 std::string_view nccl_library) {
  auto& host = *communicator;
  auto& runtime = device::runtime();
  const auto request = device::gpu_request_from(options.gpus_per_worker.empty() ? "auto" : options.gpus_per_worker);
  const auto all = seen_by_all(host, runtime);
  const auto bindings = bind_all(all, world, request);
  require_all_or_none(bindings, all);
  const auto& mine = bindings[static_cast<std::size_t>(host.rank())];
  if (mine.gpus.empty() && must_be_nccl(options))
    refuse(all.front().why_none.empty() ? "scaling.gpus_per_worker = 0 leaves the workers without GPUs"
                                        : "no GPU can be used: " + all.front().why_none);
  world.gpus = mine.gpus;
  if (mine.gpus.empty()) return;

  const auto loaded = nccl_for(host, bindings, options, nccl_library);
  const auto gpu = mine.gpus.front();
  if (gpu != 0) runtime.use(gpu);  // 0 is what libraries take by themselves, and telling them so would cost a context
  if (loaded.failure.empty()) {
    say_nccl(*loaded.api, mine, options.deterministic);
    communicator = std::make_unique<nccl::NcclCommunicator>(
        std::move(communicator), loaded.api, runtime, gpu,
        nccl::NcclOptions{.deterministic = options.deterministic, .timeout_seconds = options.timeout_seconds});
  } else {
    log::info(explained(mine, loaded.failure + (host.size() == 1 ? "" : ": what is on GPUs is reduced through the host")));
    communicator = std::make_unique<StagedCommunicator>(std::move(communicator), runtime, gpu, options.timeout_seconds);
  }
  if (options.check) communicator = checked(std::move(communicator));
}

}  // namespace trainrt::comm
