#pragma once
#include <functional>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>

#include "program/children/child.hpp"
#include "program/environments/launch_services.hpp"
#include "program/progress/activity_meter.hpp"
#include "program/protocol/channel.hpp"
#include "program/run/program.hpp"

namespace trainrt::program {

/// The program of one rank from its start, during one or several runs. The destructor kills it.
class RunningProgram {
 public:
  struct Plan {
    Rendezvous known;  ///< facts about this rank
    const ProgramOptions& options;
    const std::string& executable;
    const Frameworks& frameworks;
    decltype(OutputTargets::listener) listener;  ///< receives the output
    int input = -1;                              ///< SpawnOptions::input
  };
  /// Starts the program. Its output is held back until lead_output_to() is called. Collective.
  RunningProgram(Communicator& communicator, Plan plan);

  Channel& channel() { return channel_; }
  Child& child() { return child_; }
  /// Like Channel::receive(), but skips messages that only announce the client.
  std::optional<Message> receive(double limit_s);
  bool uses_client() const { return uses_client_; }
  /// Returns whether the program has been idle for failure.hang_timeout.
  bool is_idle() { return activity_.is_idle(child_.output_bytes()); }
  double quiet_s() const { return activity_.quiet_s(); }
  /// Writes the output from here on to the log of that attempt.
  void lead_output_to(const std::string& run_dir, int attempt);

  std::optional<Message> first;  ///< first message for the run that is about to begin

 private:
  ChildPlan child_plan(const Plan& plan) const;

  int rank_;
  LaunchServices services_;  ///< ports and services for the program
  Descriptor theirs_;
  Channel channel_;
  Child child_;
  ActivityMeter activity_;
  bool uses_client_ = false;
};

}  // namespace trainrt::program
