#pragma once
#include <functional>

#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/run_request.hpp"

namespace trainrt::program {

/// Answers the messages 'hello', 'open_run' and 'config' of a program. All functions throw UsageError for an invalid
/// message.
class RunService {
 public:
  /// `look_up` returns the run that a request would open. Only rank 0 calls `look_up`.
  RunService(Context& ctx, Child& child, LiveStacks& stacks, std::function<RequestedRun(const RunRequest&)> look_up)
      : ctx_(ctx), child_(child), stacks_(stacks), look_up_(std::move(look_up)) {}

  /// Answers 'hello', and stores the signal by which the program's stacks are requested.
  Json hello(const Json& body);
  /// Answers 'open_run'. A restarted program requests all its runs again, so the requested run must be either the open
  /// run or a finished run. Collective.
  Json open_run(const Json& body);
  /// Answers 'config' with the value of a key of section [loop], or null if the config lacks the key.
  Json config(const Json& body) const;

 private:
  Json identity() const;
  RequestedRun looked_up(const RunRequest& request);
  void enable_stacks(std::int64_t signal);

  Context& ctx_;
  Child& child_;
  LiveStacks& stacks_;
  std::function<RequestedRun(const RunRequest&)> look_up_;
};

/// Returns the fields "step" and "step_seed", which several answers contain.
Json step_fields(const Context& ctx);

}  // namespace trainrt::program
