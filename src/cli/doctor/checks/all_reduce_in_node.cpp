// The all-reduce among the ranks of each node, all nodes at once.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/all_reduce_speed.hpp"
#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double outlier = 3;  // times slower than the fastest node

Finding examine_all_reduce_in_node(const Examination& examination) {
  const auto& world = examination.world();
  if (world.size == world.node_count) return ok("one rank a node: nothing to measure", {{"nodes", Json::array()}});
  const auto node = examination.communicator().split(world.node_rank, world.rank);
  AllReduceSpeed mine;
  if (node->size() > 1) mine = measure_all_reduce(*node);
  const auto answers = examination.ask_nodes([&] { return node->size() > 1 ? to_json(mine) : Json(); });
  if (!answers.well()) return error(examination.describe(answers.troubles), "start the doctor again");
  Json nodes = Json::array();
  std::vector<AllReduceSpeed> speeds;
  double best = 0;
  for (std::size_t i = 0; i < answers.of_rank.size(); ++i) {
    if (answers.of_rank[i].is_null()) continue;  // a node of one rank
    speeds.push_back(speed_of(answers.of_rank[i]));
    best = std::max(best, speeds.back().bytes_per_second);
    nodes.push_back({{"host", examination.host_of_node(i)}});
    nodes.back().update(answers.of_rank[i]);
  }
  const auto slowest =
      static_cast<std::size_t>(std::ranges::min_element(speeds, {}, &AllReduceSpeed::bytes_per_second) - speeds.begin());
  const Json figures = {{"backend", node->name()}, {"nodes", nodes}};
  const auto text = fmt::format("{}{}", to_text(speeds[slowest]),
                                speeds.size() == 1 ? "" : fmt::format(" on the slowest of {} nodes", speeds.size()));
  if (!std::ranges::all_of(speeds, &AllReduceSpeed::right))
    return error("a sum of known numbers is wrong", "start no run here: try scaling.backend = mpi, and report it", figures);
  if (speeds[slowest].bytes_per_second * outlier < best)
    return warning(
        fmt::format("{}, {}; the fastest has {:.2f} GB/s", text, nodes[slowest].at("host").get<std::string>(), best / 1e9),
        "the slowest node sets the pace: look for other jobs on it and how its ranks are bound to cores", figures);
  return ok(text, figures);
}

}  // namespace

extern const Check all_reduce_in_node;
const Check all_reduce_in_node{.name = "all_reduce_in_node",
                               .help = "bandwidth and latency of the all-reduce inside a node",
                               .place = 140,
                               .run = examine_all_reduce_in_node};

}  // namespace trainrt::cli::doctor::plugins
