#pragma once
#include <cstdint>
#include <string>

#include <trainrt/communicator.hpp>

#include "core/process/wait_reason.hpp"
#include "program/protocol/rank_calls.hpp"

namespace trainrt::program {

/// State of one rank's program as Lockstep compares it between the ranks.
struct ProgramState {
  enum class Kind {
    computing,  ///< the program has not made its next collective call yet
    calling,    ///< the program waits in the collective call `op`
    exited,     ///< the program has exited with 0
    failed,
  };
  Kind kind = Kind::computing;
  std::string op;      ///< name of the collective call
  RankCall call = {};  ///< position of the program, for error messages
};

/// Synchronizes the collective calls of the programs of all ranks: no rank starts a call before the programs of all
/// ranks have made this call. If a program fails, no rank is inside a collective call, and all ranks can end the
/// attempt at the same step. Each rank calls check() several times per second, even while its program computes.
class Lockstep {
 public:
  enum class Decision { wait, proceed, fail };

  /// `limit_s`: maximum time that a program may wait in a call for the programs of other ranks
  /// (failure.collective_timeout).
  Lockstep(Communicator& communicator, double limit_s) : communicator_(communicator), limit_s_(limit_s) {}

  /// Compares the states of the programs of all ranks. Returns `proceed` if all programs wait in calls with the same
  /// name or all have exited, `fail` if a program has failed, and `wait` otherwise. Throws Error on all ranks if the
  /// programs wait in different calls, or if one program has exited while another program waits in a call. Throws Error
  /// on a single rank if its program has waited for longer than `limit_s`. `poll_s`: time since the previous check; all
  /// ranks must pass an equal value. Collective.
  Decision check(const ProgramState& mine, std::int64_t step, double poll_s);

 private:
  void note_wait(const ProgramState& mine, std::int64_t step, double poll_s);

  Communicator& communicator_;
  double limit_s_;
  // Times since the programs of all ranks last proceeded together. They count only while some program waits for another
  // program.
  double elapsed_s_ = 0;        ///< sum of `poll_s`, equal on all ranks
  double since_message_s_ = 0;  ///< time since the ranks last exchanged which programs are missing
  double last_check_s_ = 0;
  double waited_s_ = 0;  ///< how long this rank's program has waited
  ReportedWait note_;
};

}  // namespace trainrt::program
