#pragma once
#include <functional>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>

#include "program/children/child.hpp"
#include "program/environments/arrangement.hpp"
#include "program/progress/activity_meter.hpp"
#include "program/protocol/channel.hpp"
#include "program/rendezvous/program_place.hpp"
#include "program/run/program.hpp"

namespace trainrt::program {

/// The program of one rank, from its start until this is destroyed, which kills it: during one run, or several one after
/// the other.
class RunningProgram {
 public:
  struct Plan {
    const ProgramPlace& place;
    const ProgramOptions& options;
    const std::string& executable;
    const Frameworks& frameworks;
    Meeting known;
    decltype(OutputTargets::listener) listener;  ///< of its output
    int input = -1;                              ///< SpawnOptions::input
  };
  /// Starts it. Its output is held back until lead_output_to(). Collective.
  RunningProgram(Communicator& communicator, Plan plan);

  Channel& channel() { return channel_; }
  Child& child() { return child_; }
  /// As Channel::receive(), without messages that only say that the client is there.
  std::optional<Message> receive(double limit_s);
  bool uses_client() const { return uses_client_; }
  /// Sees no sign of life for failure.hang_timeout.
  bool is_idle() { return activity_.is_idle(child_.output_bytes()); }
  double quiet_s() const { return activity_.quiet_s(); }
  /// Its output belongs to that attempt of a run from here on.
  void lead_output_to(const std::string& run_dir, int attempt);

  std::optional<Message> first;  ///< that the program said to the run that is to begin, or has begun

 private:
  ChildPlan child_plan(const Plan& plan) const;

  int rank_;
  Arrangement arrangement_;  ///< its ports are kept as long as the program runs
  Descriptor theirs_;
  Channel channel_;
  Child child_;
  ActivityMeter activity_;
  bool uses_client_ = false;
};

}  // namespace trainrt::program
