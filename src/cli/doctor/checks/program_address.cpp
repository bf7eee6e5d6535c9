// Where the ranks' programs are to meet, and whether every node connects to it.
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "comm/comm_error.hpp"
#include "core/host.hpp"
#include "core/process/child_process.hpp"
#include "program/services/address_survey.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double name_limit_seconds = 5;

/// The IPv4 address that this host's own name resolves to; "" if it has none, or nobody answers in time.
std::string address_of_own_name() {
  const auto found = run_child({"getent", "ahostsv4", host_name()}, name_limit_seconds);
  return found && found->exit_code == 0 ? found->text.substr(0, found->text.find_first_of(" \t\n")) : "";
}

/// The nodes whose name means the node itself, as Debian has it in /etc/hosts: nobody else reaches such an address.
std::vector<Trouble> names_of_loopback(const Examination& examination) {
  const auto answers = examination.ask_nodes([] { return Json(address_of_own_name()); });
  std::vector<Trouble> troubles = answers.troubles;
  for (std::size_t node = 0; node < answers.of_rank.size(); ++node) {
    const auto address = answers.of_rank[node].is_null() ? "" : answers.of_rank[node].get<std::string>();
    if (address.starts_with("127."))
      troubles.push_back({examination.leaders()[node],
                          fmt::format("the name {} resolves to {} there", examination.host_of_node(node), address)});
  }
  return troubles;
}

Finding judge(const Examination& examination, const program::NodeAddresses& found) {
  const auto interfaces = examination.ask([&] { return Json(found.interface); });
  const auto interface = interfaces.well() ? interfaces.of_rank.front().get<std::string>() : "";
  const auto& address = found.of_nodes.front();
  const Json figures = {{"address", address}, {"interface", interface}, {"nodes", found.of_nodes}};
  if (examination.world().node_count == 1) return ok(fmt::format("MASTER_ADDR is {} on one node", address), figures);
  if (const auto names = names_of_loopback(examination); !names.empty())
    return warning(fmt::format("MASTER_ADDR is {}, which every node reaches; {}", address, examination.describe(names)),
                   "a script that looks its own host name up, instead of MASTER_ADDR, gives an address that no other node "
                   "reaches: correct /etc/hosts there",
                   figures);
  return ok(fmt::format("MASTER_ADDR is {}{}, and all {} nodes connect to it", address,
                        interface.empty() ? "" : " (" + interface + ")", found.of_nodes.size()),
            figures);
}

Finding examine_program_address(const Examination& examination) {
  program::NodeAddresses found;
  try {
    found = program::find_addresses(examination.communicator(), examination.world().node_of_rank, examination.interface());
  } catch (const comm::CollectiveTimeout&) {
    throw;  // this rank's alone
  } catch (const Error& failure) {
    return error(failure.what(),
                 "program.interface takes the address of another interface; a firewall must let nodes connect");
  }
  return judge(examination, found);
}

}  // namespace

extern const Check program_address;
const Check program_address{.name = "program_address",
                            .help = "the address that the ranks' programs meet at, and that every node connects to it",
                            .place = 210,
                            .run = examine_program_address,
                            .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
