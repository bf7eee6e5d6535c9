// TCP ports that the ranks listen on once MPI has started: trainrt opens none without a program, MPI's transport between
// nodes does.
#include <set>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/listening_ports.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// "127.0.0.1:43443" as "127.0.0.1".
std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

Finding examine_ports(const Examination& examination) {
  const auto answers = examination.ask([] { return Json(listening_ports()); });
  if (!answers.well())
    return warning(examination.describe(answers.troubles),
                   "have /proc mounted, to see what listens: `ss -lntp` tells it too");
  std::set<std::string> addresses;
  std::size_t count = 0;
  for (const auto& ports : answers.of_rank)
    for (const auto& port : ports) {
      addresses.insert(host_of(port.get<std::string>()));
      ++count;
    }
  const Json figures = {{"ports", count}, {"addresses", addresses}};
  if (count == 0) return ok("no rank listens on a TCP port", figures);
  return ok(fmt::format("MPI listens on {} TCP ports, at {} (UCX: UCX_NET_DEVICES names the devices)", count,
                        fmt::join(addresses, ", ")),
            figures);
}

}  // namespace

extern const Check ports;
const Check ports{.name = "ports", .help = "TCP ports that the ranks listen on", .place = 115, .run = examine_ports};

}  // namespace trainrt::cli::doctor::plugins
