#pragma once
#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/lockstep.hpp"
#include "program/protocol/program_inbox.hpp"
#include "program/protocol/program_requests.hpp"

namespace trainrt::program {

/// The runtime's side of the protocol between a rank and its program, during one run: receives messages (ProgramInbox),
/// waits at each collective call for the programs of all ranks (Lockstep), carries the requests out (ProgramRequests) and
/// sends the answers. README.md describes the protocol. Only the train thread uses it.
class ProgramProtocol {
 public:
  /// All references must outlive this object. `stacks` is enabled when the program has sent its signal for stacks.
  ProgramProtocol(Context& ctx, Channel& channel, Child& child, ProtocolOptions options, LiveStacks& stacks);
  ~ProgramProtocol() { stacks_.disable(); }
  ProgramProtocol(const ProgramProtocol&) = delete;

  enum class End {
    of_programs,  ///< all programs have exited with success
    of_run,       ///< all programs have sent 'close_run' and wait for the answer
  };
  /// Serves the program from its first message until all programs have exited or have closed the run. Throws UsageError for
  /// an invalid message, Error if the programs make different calls, ProgramFailed on all ranks if a program fails, and
  /// whatever the Context throws; the caller must pass a stop of the run on to the program. Collective.
  End serve(Message first);

 private:
  bool align();
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
  bool awaits_state_ = false;  ///< the program was asked for its state, which every message until then must be
};

}  // namespace trainrt::program
