// Is a proxy set that the ranks' own connections would go through? gRPC takes it, so JAX and TensorFlow do.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/proxy_rules.hpp"
#include "comm/comm_error.hpp"
#include "core/text/text.hpp"
#include "program/services/address_survey.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

bool has_proxy(const Environment& environment) {
  for (const auto* variable : {"grpc_proxy", "https_proxy", "http_proxy"})
    if (!environment.text(variable).value_or("").empty()) return true;
  return false;
}

/// Where the programs will be; the hosts' names if that cannot be found out, which `program_address` reports.
std::vector<std::string> addresses_of_programs(const Examination& examination) try {
  return program::find_addresses(examination.communicator(), examination.world().node_of_rank, examination.interface())
      .of_nodes;
} catch (const comm::CollectiveTimeout&) {
  throw;  // this rank's alone
} catch (const Error&) {
  return examination.hosts();
}

Finding examine_proxy(const Examination& examination) {
  const auto set = examination.ask([&] { return Json(has_proxy(examination.environment())); });
  if (!set.well()) return error(examination.describe(set.troubles), "look at the environment there");
  if (std::ranges::none_of(set.of_rank, [](const Json& each) { return each.get<bool>(); })) return ok("none is set");
  const auto addresses = addresses_of_programs(examination);
  const auto answers = examination.ask([&] {
    const auto found = proxy_in_the_way(examination.environment(), addresses);
    return found ? Json(fmt::format(
                       "{} = {} is taken to {}", found->variable, found->proxy,
                       join(std::span(found->addresses).first(std::min<std::size_t>(4, found->addresses.size())))))
                 : Json();
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "look at the environment there");
  std::vector<Trouble> troubles;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank)
    if (!answers.of_rank[rank].is_null()) troubles.push_back({static_cast<int>(rank), answers.of_rank[rank]});
  const Json figures = {{"addresses", addresses}, {"ranks_in_trouble", troubles.size()}};
  if (troubles.empty()) return ok("no_proxy excepts the nodes of the run", figures);
  return warning(
      examination.describe(troubles),
      "gRPC, which JAX and TensorFlow use, connects the ranks through it: unset it in the batch script, or export "
      "no_proxy with the addresses of all nodes",
      figures);
}

}  // namespace

extern const Check proxy;
const Check proxy{.name = "proxy",
                  .help = "whether a proxy is in the way between the ranks",
                  .place = 250,
                  .run = examine_proxy,
                  .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
