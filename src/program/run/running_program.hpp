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

/// The running program of one rank, which may take part in several runs. The destructor kills the program.
class RunningProgram {
 public:
  struct Plan {
    Rendezvous known;  ///< the members of Rendezvous that this rank knows
    const ProgramOptions& options;
    const std::string& executable;
    const Frameworks& frameworks;
    decltype(OutputTargets::listener) listener;  ///< receives the output of the program
    int input = -1;                              ///< standard input of the program, see SpawnOptions::input
  };
  /// Starts the program. The program's output is buffered until the first call of lead_output_to(). Collective.
  RunningProgram(Communicator& communicator, Plan plan);

  Channel& channel() { return channel_; }
  Child& child() { return child_; }
  /// Receives a message of the program like Channel::receive(), but skips messages that only announce the client.
  std::optional<Message> receive(double limit_s);
  bool uses_client() const { return uses_client_; }
  /// Returns whether the program has neither printed nor used CPU time for failure.hang_timeout.
  bool is_idle() { return activity_.is_idle(child_.output_bytes()); }
  double quiet_s() const { return activity_.quiet_s(); }
  /// Writes the following output of the program to the log of attempt `attempt` of the run in `run_dir`.
  void lead_output_to(const std::string& run_dir, int attempt);

  std::optional<Message> first;  ///< first message of the program for the next run; empty before it arrives

 private:
  ChildPlan child_plan(const Plan& plan) const;

  int rank_;
  LaunchServices services_;  ///< ports and services for the program
  Descriptor theirs_;
  Channel channel_;
  Child child_;
  ActivityMeter activity_;
  std::function<void(const StoreKeys&)> on_store_keys_;
  bool uses_client_ = false;
};

}  // namespace trainrt::program
