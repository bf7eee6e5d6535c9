#pragma once
#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/lockstep.hpp"
#include "program/protocol/program_inbox.hpp"
#include "program/protocol/program_requests.hpp"

namespace trainrt::program {

/// The runtime's side of the protocol between a rank and its program, during one run. README.md describes the protocol.
/// ProgramInbox receives the messages, Lockstep waits at each collective call for the programs of all ranks, and
/// ProgramRequests carries out the requests. Only the train thread may use a ProgramProtocol.
class ProgramProtocol {
 public:
  /// All referenced objects must outlive this object. `stacks` is enabled when the program has sent the number of the
  /// signal for stack requests.
  ProgramProtocol(Context& ctx, Channel& channel, Child& child, ProtocolOptions options, LiveStacks& stacks);
  ~ProgramProtocol() { stacks_.disable(); }
  ProgramProtocol(const ProgramProtocol&) = delete;

  enum class End {
    of_programs,  ///< the programs of all ranks have exited with success
    of_run,       ///< the programs of all ranks have sent 'close_run' and wait for the answer
  };
  /// Serves the program, beginning with the message `first`, until the programs of all ranks have exited or closed the
  /// run. Throws UsageError for an invalid message, Error if the programs make different calls, ProgramFailed on all
  /// ranks if a program fails, and the errors of the Context. If the Context stops the run, the caller must send the
  /// stop to the program. Collective.
  End serve(Message first);

 private:
  bool align();
  void await_other_failures();
  [[noreturn]] void fail_together();
  void answer(const Message& message);
  Json request_values();

  Context& ctx_;
  ProtocolOptions options_;
  Channel& channel_;
  Child& child_;
  LiveStacks& stacks_;
  ProgramRequests requests_;
  ProgramInbox inbox_;
  Lockstep lockstep_;
  bool has_trained_ = false;   ///< the programs have made a step or report
  bool awaits_state_ = false;  ///< the program was asked for its State and must send it as its next message
};

}  // namespace trainrt::program
