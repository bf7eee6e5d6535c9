#include "program/environments/join_framework.hpp"

#include <memory>

#include "program/environments/environment.hpp"
#include "program/environments/launch_services.hpp"

namespace trainrt::program {

FrameworkMeeting join_framework(Context& ctx, const std::string& framework, const std::string& interface) {
  const auto chosen = chosen_frameworks(std::span(&framework, 1));
  auto known = rendezvous_of(ctx);
  add_node_facts(known, false);
  const auto services = std::make_shared<const LaunchServices>(ctx.communicator(), std::move(known), chosen, interface);
  const auto variables = environment_with({}, services->rendezvous(), chosen);
  return {.variables = {variables.begin(), variables.end()}, .cpus = services->rendezvous().cpus, .service = services};
}

}  // namespace trainrt::program
