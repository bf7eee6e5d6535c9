#include "program/run/running_program.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"
#include "program/environments/environment.hpp"

namespace trainrt::program {

RunningProgram::RunningProgram(Communicator& communicator, Plan plan)
    : rank_(plan.known.rank),
      services_(communicator, std::move(plan.known), plan.frameworks, plan.options.interface),
      channel_(theirs_),
      child_(child_plan(plan)),
      activity_(child_.pid(), plan.options.hang_timeout_s),
      on_store_keys_(plan.options.on_store_keys) {
  theirs_.reset();
  services_.program_has_started(child_.pid());
}

ChildPlan RunningProgram::child_plan(const Plan& plan) const {
  const auto& rendezvous = services_.rendezvous();
  auto output = output_targets(plan.options.shown, rendezvous.run_dir, rendezvous.rank);
  output.holds_log = true;
  output.listener = plan.listener;
  auto sockets = services_.sockets();
  sockets.push_back(theirs_.get());
  return {.start = {.command = plan.options.command,
                    .executable = plan.executable,
                    .environment = program_environment(rendezvous, theirs_.get(), plan.frameworks, plan.options.variables),
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
  if (message && (message->op == "hello" || message->op == "open_run"))
    if (const auto keys = take_store_keys(message->body); on_store_keys_) on_store_keys_(keys);
  return message;
}

void RunningProgram::lead_output_to(const std::string& run_dir, int attempt) {
  constexpr double limit_s = 2;
  const auto output = child_.output();
  output->drain(limit_s);  // waits for earlier output, which belongs to the previous run
  output->switch_file(run_dir + "/" + rank_log_name(rank_),
                      fmt::format("attempt {}, rank {} on {}, process {}", attempt, rank_, host_name(), child_.pid()));
}

}  // namespace trainrt::program
