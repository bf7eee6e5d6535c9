#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/python_stacks.hpp"

namespace trainrt::program {

/// A rank with an idle program, and the position of the program.
struct IdleRank {
  std::string host;
  PythonPosition position;
};

/// Cause of a hang of all programs.
struct HangDiagnosis {
  int late_rank = 0;    ///< rank that the others probably wait for
  std::string message;  ///< error message, one line
};

/// Diagnoses programs that are idle on all ranks: makes each print its stacks, writes them to
/// RUN_DIR/`folder`/rank-00003.txt and ends the programs. `quiet_s`: how long they have been idle, in seconds. Collective.
HangDiagnosis diagnose_hang(Context& ctx, const Child& child, const std::string& folder, double quiet_s);

/// Returns the diagnosis. The late rank is the first rank that is in no collective, or rank 0 if all are. Pure.
HangDiagnosis diagnosis_of(std::span<const IdleRank> ranks, double quiet_s, const std::string& folder);

}  // namespace trainrt::program
