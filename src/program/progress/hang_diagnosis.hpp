#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/python_stacks.hpp"

namespace trainrt::program {

/// A rank with an idle program, and the position of the program in its code.
struct IdleRank {
  std::string host;
  PythonPosition position;
};

/// Diagnosis of a hang, in which the programs of all ranks are idle.
struct HangDiagnosis {
  int late_rank = 0;    ///< rank for which the other ranks probably wait
  std::string message;  ///< error message; diagnose_hang() adds the stacks of `late_rank` after the first line
};

/// Diagnoses a hang of the programs of all ranks: each program prints its stacks, each rank writes them to a file such
/// as RUN_DIR/`folder`/rank-00003.txt, and the programs are ended. `quiet_s`: how long the programs have been idle, in
/// seconds. Collective.
HangDiagnosis diagnose_hang(Context& ctx, const Child& child, const std::string& folder, double quiet_s);

/// Returns the diagnosis for the positions of all programs. The late rank is the first rank whose program is in no
/// collective call of torch, or rank 0 if every program is in one. Pure function.
HangDiagnosis diagnosis_of(std::span<const IdleRank> ranks, double quiet_s, const std::string& folder);

}  // namespace trainrt::program
