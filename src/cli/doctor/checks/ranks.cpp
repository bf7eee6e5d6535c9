// How the ranks lie on the nodes.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_ranks(const Examination& examination) {
  const auto& world = examination.world();
  std::vector<int> counts(static_cast<std::size_t>(world.node_count), 0);
  for (const int node : world.node_of_rank) ++counts[static_cast<std::size_t>(node)];
  const auto [least, most] = std::ranges::minmax(counts);
  Json nodes = Json::array();
  for (std::size_t node = 0; node < counts.size(); ++node)
    nodes.push_back({{"host", examination.host_of_node(node)}, {"ranks", counts[node]}});
  const Json figures = {{"least_ranks_a_node", least}, {"most_ranks_a_node", most}, {"nodes", nodes}};
  const auto where = fmt::format("{} node{}", world.node_count, world.node_count == 1 ? "" : "s");
  if (least == most) return ok(fmt::format("{} rank{} a node on {}", most, most == 1 ? "" : "s", where), figures);
  return warning(fmt::format("{} to {} ranks a node on {}", least, most, where),
                 "the fullest node sets the pace of all: --ntasks-per-node gives every node as many", figures);
}

}  // namespace

extern const Check ranks;
const Check ranks{
    .name = "ranks", .help = "ranks a node, and whether the nodes have as many", .place = 70, .run = examine_ranks};

}  // namespace trainrt::cli::doctor::plugins
