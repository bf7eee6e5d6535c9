#include <array>
#include <filesystem>
#include <set>

#include <sys/socket.h>
#include <unistd.h>

#include "cli/doctor/doctor_check.hpp"
#include "core/host.hpp"
#include "program/rendezvous/interfaces.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

namespace fs = std::filesystem;

/// Returns the addresses of the TCP sockets on which this process listens. Omits sockets that its parent (mpiexec,
/// slurmstepd) has open, too.
std::vector<std::string> listening_addresses() {
  std::set<std::string> inherited;
  std::error_code error, closed;
  for (fs::directory_iterator entry(fmt::format("/proc/{}/fd", getppid()), error), end; !error && entry != end;
       entry.increment(error))
    inherited.insert(fs::read_symlink(entry->path(), closed).string());
  std::vector<std::string> addresses;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    if (inherited.contains(fs::read_symlink(entry.path(), closed).string())) continue;
    sockaddr_storage address{};
    size = sizeof address;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    const auto text = program::text_of(reinterpret_cast<sockaddr*>(&address));  // "" for a Unix socket
    if (!text.empty()) addresses.push_back(text);
  }
  return addresses;
}

Finding check_ports(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] { return Json(listening_addresses()); });
  std::multiset<std::string> found;
  for (const auto& addresses : answers.values) found.insert(addresses.begin(), addresses.end());
  const std::set<std::string> addresses(found.begin(), found.end());
  figures = {{"ports", found.size()}, {"addresses", addresses}};
  if (found.empty()) return ok("no rank listens on a TCP port");
  return ok(fmt::format("MPI listens on {} TCP ports, at {} (with UCX, UCX_NET_DEVICES selects the network devices)",
                        found.size(), fmt::join(addresses, ", ")));
}

constexpr std::size_t buffer_bytes = std::size_t{4} << 20;
constexpr double long_call_seconds = 0.2;  // a call that takes this long is measured only once

/// Returns the seconds per call on the slowest rank. All ranks get the same result.
double seconds_per_call(Communicator& communicator, Buffer buffer, int calls) {
  communicator.barrier();
  const auto start = monotonic_seconds();
  for (int i = 0; i < calls; ++i) communicator.all_reduce(buffer, Op::sum);
  return communicator.all_reduced(monotonic_seconds() - start, Op::max) / calls;
}

/// Measures several series of calls, and returns the seconds per call of the fastest series. Other processes on these
/// cores disturbed that series least.
double fastest_series(Communicator& communicator, Buffer buffer) {
  double seconds = seconds_per_call(communicator, buffer, 1);  // touches the pages and opens the connections
  for (int i = 0; i < 4 && seconds < long_call_seconds; ++i)
    seconds =
        std::min(seconds, seconds_per_call(communicator, buffer, std::clamp(static_cast<int>(0.1 / seconds), 1, 2048)));
  return seconds;
}

/// Returns whether an all-reduce of known numbers has the correct sums on all ranks. All ranks get the same result.
bool sums_are_right(Communicator& communicator, Buffer buffer) {
  const auto number_of = [](int rank) { return static_cast<float>(rank % 16 + 1); };  // sums of up to 2^20 ranks are exact
  const std::span numbers(static_cast<float*>(buffer.data), buffer.count);
  std::ranges::fill(numbers, number_of(communicator.rank()));
  communicator.all_reduce(buffer, Op::sum);
  float sum = 0;
  for (int rank = 0; rank < communicator.size(); ++rank) sum += number_of(rank);
  const bool mine = std::ranges::all_of(numbers, [&](float number) { return number == sum; });
  return communicator.all_reduced(std::int64_t{mine}, Op::min) == 1;
}

/// Measures the time of an all-reduce of 8 bytes and of `buffer_bytes` bytes. Collective over `communicator`; all ranks
/// get the same result.
Json measure_all_reduce(Communicator& communicator) {
  const auto memory = communicator.allocate(buffer_bytes);
  const auto buffer = [&](std::size_t bytes) { return Buffer{memory.get(), bytes / sizeof(float), DType::f32}; };
  return {{"latency_seconds", fastest_series(communicator, buffer(8))},
          {"bytes", buffer_bytes},
          {"bytes_per_second", buffer_bytes / fastest_series(communicator, buffer(buffer_bytes))},
          {"right", sums_are_right(communicator, buffer(buffer_bytes))}};
}

double speed_in(const Json& measured) { return measured.at("bytes_per_second"); }

/// Formats a result of measure_all_reduce(): "12.34 GB/s (4 MiB), 8 bytes in 1.2 us".
std::string speed_text(const Json& measured) {
  return fmt::format("{:.2f} GB/s ({} MiB), 8 bytes in {:.1f} us", speed_in(measured) / 1e9, buffer_bytes >> 20,
                     measured.at("latency_seconds").get<double>() * 1e6);
}

Finding wrong_sum() {
  return error("an all-reduce computed a wrong sum",
               "do not start runs here; use another MPI library, or set scaling.backend = mpi, and report this error");
}

/// Measures all-reduces inside each node, on all nodes at the same time.
Finding check_all_reduce_in_node(const DoctorRanks& ranks, Json& figures) {
  constexpr double max_ratio = 3;  // of the fastest node's speed to another's
  const auto& world = ranks.world();
  Json nodes = Json::array();
  figures["nodes"] = nodes;
  if (world.size == world.node_count) return ok("one rank per node: nothing to measure");
  const auto node = ranks.communicator().split(world.node_rank, world.rank);
  const auto mine = node->size() > 1 ? measure_all_reduce(*node) : Json();
  const auto answers = ranks.ask_nodes([&] { return mine; });
  for (std::size_t i = 0; i < answers.values.size(); ++i) {
    if (answers.values[i].is_null()) continue;  // a node with one rank
    nodes.push_back({{"host", ranks.host_of_node(i)}});
    nodes.back().update(answers.values[i]);
  }
  figures = {{"backend", node->name()}, {"nodes", nodes}};
  if (!std::ranges::all_of(nodes, [](const Json& each) { return each.at("right").get<bool>(); })) return wrong_sum();
  const auto [slowest, fastest] = std::ranges::minmax_element(nodes, {}, speed_in);
  const auto text =
      speed_text(*slowest) + (nodes.size() == 1 ? "" : fmt::format(" on the slowest of {} nodes", nodes.size()));
  if (speed_in(*slowest) * max_ratio >= speed_in(*fastest)) return ok(text);
  return warning(
      fmt::format("{}, {}; the fastest node has {:.2f} GB/s", text, slowest->at("host").get<std::string>(),
                  speed_in(*fastest) / 1e9),
      "a run is as slow as its slowest node: check that node for other jobs, and how its ranks are bound to cores");
}

/// Measures all-reduces between nodes, with one rank per node.
Finding check_all_reduce_between_nodes(const DoctorRanks& ranks, Json& figures) {
  constexpr double min_rdma_speed = 1e9;  // bytes per second; TCP over an RDMA card is slower
  const auto& world = ranks.world();
  if (world.node_count == 1) return ok("one node: nothing to measure");
  const auto leaders = ranks.communicator().split(ranks.leads_node() ? 0 : -1, world.rank);
  Json mine = leaders ? measure_all_reduce(*leaders) : Json();
  mine["fabric"] = has_rdma_device();
  figures = ranks.ask_nodes([&] { return mine; }).first();
  figures["nodes"] = world.node_count;
  if (!figures.at("right").get<bool>()) return wrong_sum();
  const auto text = fmt::format("{} between {} nodes, one rank per node", speed_text(figures), world.node_count);
  return warning_if(
      figures.at("fabric").get<bool>() && speed_in(figures) < min_rdma_speed ? text + ", despite an RDMA card" : "",
      "MPI seems to use TCP: load the MPI module for this network (for UCX, check UCX_TLS and UCX_NET_DEVICES; for "
      "libfabric, FI_PROVIDER)",
      text);
}

constexpr const char* again = "run `trainrt doctor` again";
constexpr std::array<Check, 3> network_checks = {{
    {"ports", "the TCP ports of the ranks", check_ports, "mount /proc on that node, or run `ss -lntp`", Grade::warning},
    {"all_reduce_in_node", "the all-reduce between the ranks of a node", check_all_reduce_in_node, again},
    {"all_reduce_between_nodes", "the all-reduce between the nodes", check_all_reduce_between_nodes, again},
}};

}  // namespace

extern const CheckGroup network;
const CheckGroup network{
    .name = "network", .help = "ports, and the speed of all-reduces", .order = 40, .checks = network_checks};

}  // namespace trainrt::cli::doctor::plugins
