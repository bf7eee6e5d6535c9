#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <trainrt/context.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/dataset_service.hpp"
#include "program/protocol/run_service.hpp"
#include "program/protocol/shared_arrays.hpp"
#include "program/protocol/state_service.hpp"

namespace trainrt::program {

struct ProtocolOptions {
  double wait_limit_s = 0;                                      ///< maximum time in a collective call, see Lockstep
  bool may_close = true;                                        ///< the program may close its run before exiting
  std::function<RequestedRun(const RunRequest&)> look_up = {};  ///< returns the run that a request would open
  std::function<void()> begins = {};  ///< called when the program opens the run or starts to train; may be empty
};

/// Carries out the requests of a program. Each request becomes a call of the Context. README.md lists the requests.
class ProgramRequests {
 public:
  /// `request_values` asks the program to update its shared memory and files, and returns the values of the program's
  /// State.
  ProgramRequests(Context& ctx, Channel& channel, Child& child, LiveStacks& stacks, const ProtocolOptions& options,
                  std::function<Json()> request_values);

  /// Returns whether the request `op` is collective: the programs of all ranks must make it.
  static bool is_collective(const std::string& op);
  /// Carries out a request and returns the result. Throws UsageError for an unknown or invalid request, and the errors
  /// of the Context.
  Json reply(const Message& message);
  /// Returns whether the program has sent 'close_run'. The caller answers 'close_run' after the run has ended.
  bool is_closed() const { return is_closed_; }
  /// Saves the State if the programs of all ranks have exited and have sent their final State with 'done'. Collective.
  void save_at_end();

 private:
  struct Request {
    Json (*reply)(ProgramRequests&, const Message&);
    bool is_collective = false;
  };
  static const std::map<std::string_view, Request>& requests();
  Json close_run();
  /// Reports that the program is ready to train. If the program reports several times before its first step, the last
  /// report counts.
  void begin() const {
    if (options_.begins) options_.begins();
  }

  Context& ctx_;
  Channel& channel_;
  const ProtocolOptions& options_;
  RunService run_;
  StateService state_;
  SharedArrays arrays_;
  DatasetService datasets_;
  bool is_closed_ = false;
};

}  // namespace trainrt::program
