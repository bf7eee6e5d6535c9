#include "program/run/running_program.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"
#include "program/environments/environment.hpp"

namespace trainrt::program {

RunningProgram::RunningProgram(Communicator& communicator, Plan plan)
    : rank_(plan.place.rank),
      arrangement_(communicator, std::move(plan.known), plan.frameworks, plan.options.interface),
      channel_(theirs_),
      child_(child_plan(plan)),
      activity_(child_.pid(), plan.options.hang_timeout_s) {
  theirs_.reset();
  arrangement_.program_has_started(child_.pid());
}

ChildPlan RunningProgram::child_plan(const Plan& plan) const {
  auto output = output_targets(plan.options.shown, plan.place.run_dir, plan.place.rank);
  output.holds_log = true;
  output.listener = plan.listener;
  auto sockets = arrangement_.sockets();
  sockets.push_back(theirs_.get());
  return {.start = {.command = plan.options.command,
                    .executable = plan.executable,
                    .environment = program_environment(plan.place, theirs_.get(), arrangement_.meeting(), plan.frameworks,
                                                       plan.options.variables),
                    .input = plan.input,
                    .kept_files = std::move(sockets)},
          .stop_signal = plan.options.stop_signal,
          .output = std::move(output),
          .title = ""};
}

std::optional<Message> RunningProgram::receive(double limit_s) {
  auto message = channel_.receive(limit_s);
  if (message) uses_client_ = true;
  while (message && message->op == "imported") message = channel_.receive(0);
  return message;
}

void RunningProgram::lead_output_to(const std::string& run_dir, int attempt) {
  constexpr double limit_s = 2;
  const auto output = child_.output();
  output->drain(limit_s);  // what came before belongs to the run before
  output->switch_file(run_dir + "/" + rank_log_name(rank_),
                      fmt::format("attempt {}, rank {} on {}, process {}", attempt, rank_, host_name(), child_.pid()));
}

}  // namespace trainrt::program
