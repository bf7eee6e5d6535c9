#include "program/protocol/run_service.hpp"

#include <csignal>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/rank_zero.hpp"
#include "program/protocol/fields.hpp"
#include "program/rendezvous/rendezvous.hpp"

namespace trainrt::program {

namespace {

constexpr int protocol_version = 1;

}  // namespace

Json step_fields(const Context& ctx) { return {{"step", ctx.step_count()}, {"step_seed", ctx.step_seed()}}; }

Json RunService::hello(const Json& body) {
  if (const auto theirs = number_field(body, "protocol"); theirs != protocol_version)
    throw UsageError(
        fmt::format("train.program: the program uses protocol version {}, this version of trainrt uses {}; "
                    "use the client of this version",
                    theirs, protocol_version));
  if (body.contains("pid")) child_.note_client(static_cast<pid_t>(number_field(body, "pid")));
  if (body.contains("stacks_signal")) enable_stacks(number_field(body, "stacks_signal"));
  return identity();
}

Json RunService::identity() const {
  auto fields = step_fields(ctx_);
  fields.update({{"protocol", protocol_version},
                 {"world_rank", ctx_.world_rank()},
                 {"world_size", ctx_.world_size()},
                 {"local_rank", ctx_.local_rank()},
                 {"local_world_size", ctx_.local_world_size()},
                 {"node_rank", ctx_.node_rank()},
                 {"gpus", ctx_.gpus()},
                 {"run_name", ctx_.run_name()},
                 {"run_dir", ctx_.run_dir()},
                 {"seed", ctx_.seed()},
                 {"aggregate", !ctx_.report_options().of_first_rank}});
  return fields;
}

Json RunService::open_run(const Json& body) {
  const auto answer = hello(body);
  const auto run = looked_up(run_request_from(body));
  if (run.run_dir == ctx_.run_dir()) return answer;
  if (run.is_finished) return finished_fields(rendezvous_of(ctx_), run);
  throw UsageError(fmt::format(
      "train.program: the program requests the run '{}' ({}), but the run '{}' ({}) is already open. trainrt opens a run "
      "at the first call of trainrt.context(), after 1 MiB of output, or after one minute without a message of the program "
      "(one second if neither the script nor the modules next to the script mention trainrt). Import trainrt at the "
      "beginning of the script, or start with --run.name={} --run.storage_path=...",
      run.name, run.run_dir, ctx_.run_name(), ctx_.run_dir(), run.name));
}

/// Finds on rank 0 the run that `request` selects, and returns this run on all ranks.
RequestedRun RunService::looked_up(const RunRequest& request) {
  Json found = Json::object();
  RankZero(ctx_.world_rank()).run([&] {
    try {
      const auto run = look_up_(request);
      found = {{"name", run.name}, {"run_dir", run.run_dir}, {"is_finished", run.is_finished}};
    } catch (const std::exception& error) {
      found = {{"error", error.what()}};
    }
  });
  found = Json::parse(ctx_.communicator().broadcast_text(found.dump(-1, ' ', false, Json::error_handler_t::replace), 0));
  if (found.contains("error")) throw UsageError(found["error"].get<std::string>());
  return {found["name"], found["run_dir"], found["is_finished"]};
}

/// From now on, trainrt may send `signal` to the program, which then prints the stacks of its threads. Throws UsageError
/// unless `signal` is a real-time signal, since other signals end a program or have another meaning.
void RunService::enable_stacks(std::int64_t signal) {
  if (signal < SIGRTMIN || signal > SIGRTMAX)
    throw UsageError(fmt::format("train.program: \"stacks_signal\" is {}; it must be a real-time signal, {} to {}", signal,
                                 SIGRTMIN, SIGRTMAX));
  stacks_.enable(child_.pid(), static_cast<int>(signal), child_.output());
}

Json RunService::config(const Json& body) const {
  constexpr auto* missing = "\x01 no such key";  // a value that no config file can contain
  const auto text = ctx_.config<std::string>(text_field(body, "key"), missing);
  return {{"value", text == missing ? Json() : Json(text)}};
}

}  // namespace trainrt::program
