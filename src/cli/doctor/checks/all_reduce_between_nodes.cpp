// The all-reduce between the nodes, one rank of each.
#include <fmt/format.h>

#include "cli/doctor/all_reduce_speed.hpp"
#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double least_of_a_fabric = 1e9;  // bytes a second: TCP over its card has less
constexpr const char* fabric_advice =
    "MPI seems to use TCP: load the MPI that knows the fabric (for UCX see UCX_TLS and UCX_NET_DEVICES, for libfabric "
    "FI_PROVIDER)";

Finding examine_all_reduce_between_nodes(const Examination& examination) {
  const auto& world = examination.world();
  if (world.node_count == 1) return ok("one node: nothing to measure");
  const auto leaders = examination.communicator().split(examination.leads_node() ? 0 : -1, world.rank);
  AllReduceSpeed speed;
  if (leaders) speed = measure_all_reduce(*leaders);
  const auto answers = examination.ask_nodes([&] {
    auto answer = to_json(speed);
    answer["fabric"] = has_fabric();
    return answer;
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "start the doctor again");
  auto figures = answers.of_rank.front();  // the slowest rank's times: the same on all
  figures["nodes"] = world.node_count;
  speed = speed_of(figures);
  const auto text = fmt::format("{} between {} nodes, one rank each", to_text(speed), world.node_count);
  if (!speed.right)
    return error("a sum of known numbers is wrong", "start no run here: try another MPI or transport, and report it",
                 figures);
  if (figures.at("fabric").get<bool>() && speed.bytes_per_second < least_of_a_fabric)
    return warning(text + ", though there is an RDMA card", fabric_advice, figures);
  return ok(text, figures);
}

}  // namespace

extern const Check all_reduce_between_nodes;
const Check all_reduce_between_nodes{.name = "all_reduce_between_nodes",
                                     .help = "bandwidth and latency of the all-reduce between nodes",
                                     .place = 150,
                                     .run = examine_all_reduce_between_nodes};

}  // namespace trainrt::cli::doctor::plugins
