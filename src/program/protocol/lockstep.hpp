#pragma once
#include <cstdint>
#include <string>

#include <trainrt/communicator.hpp>

#include "core/process/wait_reason.hpp"
#include "program/protocol/arrivals.hpp"

namespace trainrt::program {

/// What the program of one rank comes with.
struct Turn {
  enum class Kind {
    computes,  ///< nothing yet
    calls,     ///< `call`, which all ranks make together
    ended,     ///< its good end
    fell,
  };
  Kind kind = Kind::computes;
  std::string call;      ///< the operation, which all ranks must have in common
  Arrival arrival = {};  ///< for messages
};

/// Brings the programs of all ranks to each collective call together: no rank begins one before all have come to it. So a
/// program that falls leaves no rank inside a call, and all can leave the attempt at the same point. All ranks look again
/// and again, several times a second, also while their programs compute; who has come waits in a look for the others.
class Lockstep {
 public:
  enum class Verdict { wait, go, fell };

  /// `limit_s`: how long a program that has come may wait for those of others (failure.collective_timeout).
  Lockstep(Communicator& communicator, double limit_s) : communicator_(communicator), limit_s_(limit_s) {}

  /// go: all have come to the same call, or to their end. fell: some program did; nothing of the others is under way.
  /// Throws Error, on all ranks, if they have come to different ones, or one has ended while another waits in a call; on
  /// one rank if it waits too long. `look_s`: how long
  /// this look has lasted at most, the same on all ranks. Collective.
  Verdict look(const Turn& mine, std::int64_t step, double look_s);

 private:
  void wait(const Turn& mine, std::int64_t step, double look_s);

  Communicator& communicator_;
  double limit_s_;
  // Of looks in a row, while some program that has come waits for others:
  double looked_s_ = 0;   ///< the same on all ranks
  double unnamed_s_ = 0;  ///< of these, since the last time that the others were named
  double last_s_ = 0;
  double waited_s_ = 0;  ///< by this rank
  ReportedWait note_;
};

}  // namespace trainrt::program
