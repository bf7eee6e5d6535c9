#pragma once
#include <cstdint>
#include <string>

#include <trainrt/communicator.hpp>

#include "core/process/wait_reason.hpp"
#include "program/protocol/rank_calls.hpp"

namespace trainrt::program {

/// State of one rank's program between two collective calls.
struct ProgramState {
  enum class Kind {
    computing,  ///< it has not made its next collective call yet
    calling,    ///< it waits in the collective call `op`
    exited,     ///< it has exited with 0
    failed,
  };
  Kind kind = Kind::computing;
  std::string op;      ///< name of the call, which must be the same on all ranks
  RankCall call = {};  ///< for error messages
};

/// Synchronizes the collective calls of all programs: no rank starts a call before the programs of all ranks have made it.
/// If a program fails, no rank is inside a call, so all ranks can end the attempt at the same point. Each rank calls
/// check() several times per second, also while its program computes.
class Lockstep {
 public:
  enum class Decision { wait, proceed, fail };

  /// `limit_s`: how long a program may wait in a call for the programs of other ranks (failure.collective_timeout).
  Lockstep(Communicator& communicator, double limit_s) : communicator_(communicator), limit_s_(limit_s) {}

  /// Compares the states of all programs. Returns `proceed` if all are in the same call or all have exited, `fail` if some
  /// program has failed, else `wait`. Throws Error on all ranks if they are in different calls, or if one program has
  /// exited while another is in a call; throws Error on one rank if its program has waited for longer than the limit.
  /// `poll_s`: time since the previous check, the same on all ranks. Collective.
  Decision check(const ProgramState& mine, std::int64_t step, double poll_s);

 private:
  void note_wait(const ProgramState& mine, std::int64_t step, double poll_s);

  Communicator& communicator_;
  double limit_s_;
  // Over consecutive checks in which some program waits for others:
  double elapsed_s_ = 0;        ///< the same on all ranks
  double since_message_s_ = 0;  ///< elapsed time since the missing ranks were last determined
  double last_check_s_ = 0;
  double waited_s_ = 0;  ///< time that this rank's program has waited
  ReportedWait note_;
};

}  // namespace trainrt::program
