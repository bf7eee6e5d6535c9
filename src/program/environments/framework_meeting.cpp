#include "program/environments/framework_meeting.hpp"

#include <memory>

#include "program/environments/arrangement.hpp"
#include "program/environments/environment.hpp"
#include "program/rendezvous/program_place.hpp"

namespace trainrt::program {

FrameworkMeeting meeting_of(Context& ctx, const std::string& framework, const std::string& interface) {
  const auto chosen = chosen_frameworks(std::span(&framework, 1));
  const auto arrangement =
      std::make_shared<const Arrangement>(ctx.communicator(), known_of(place_of(ctx), false), chosen, interface);
  const auto variables = environment_with({}, arrangement->meeting(), chosen);
  return {.variables = {variables.begin(), variables.end()}, .cpus = arrangement->meeting().cpus, .service = arrangement};
}

}  // namespace trainrt::program
