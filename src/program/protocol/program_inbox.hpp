#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "program/children/child.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/lockstep.hpp"
#include "program/protocol/rank_exits.hpp"

namespace trainrt::program {

/// Receives the messages of one rank's program, and detects the exit of the program. Stores a collective call until
/// take_call(), and passes every other message to a handler at once. Only the train thread may use a ProgramInbox.
class ProgramInbox {
 public:
  struct Handlers {
    std::function<bool(const std::string& op)> is_collective;
    std::function<void(const Message& message)> answer;  ///< answers a message that is not collective
    std::function<void(const Message& message)> finish;  ///< handles the message 'done', which needs no answer
  };
  ProgramInbox(Channel& channel, Child& child, LiveStacks& stacks, Handlers handlers)
      : channel_(channel), child_(child), stacks_(stacks), handlers_(std::move(handlers)) {}

  /// Waits at most `limit_s` until the program makes a collective call or exits, and returns the state of the program.
  ProgramState wait(double limit_s);
  /// Handles a message that the caller has received from the Channel.
  void take(Message message);
  /// Returns and removes the collective call in which the program waits. Precondition: wait() has returned `calling`.
  Message take_call() { return *std::exchange(call_, std::nullopt); }
  const FailureReport& failure() const { return failure_; }

 private:
  RankCall position_of_call() const;
  bool has_exited();
  void check_exit();

  Channel& channel_;
  Child& child_;
  LiveStacks& stacks_;
  Handlers handlers_;
  std::optional<Message> call_;
  bool is_done_ = false;
  std::string left_ = "the program";  ///< RankCall::place to report after the program has exited
  FailureReport failure_;
};

}  // namespace trainrt::program
