#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/children/python_stacks.hpp"

namespace trainrt::program {

/// A rank whose program is idle.
struct IdleRank {
  std::string host;
  PythonPlace place;
};

/// What is known of programs that hang.
struct IdleVerdict {
  int behind = 0;    ///< the rank that the others seem to wait for
  std::string text;  ///< one line
};

/// The programs of all ranks are idle: lets each print its stacks, puts them into RUN_DIR/`folder`/rank-00003.txt, and ends
/// the programs. `quiet_s`: for how long. Collective.
IdleVerdict examine_idle(Context& ctx, const Child& child, const std::string& folder, double quiet_s);

/// Behind is the first rank that is in no collective while another is; else rank 0. Pure.
IdleVerdict judge_idle(std::span<const IdleRank> ranks, double quiet_s, const std::string& folder);

}  // namespace trainrt::program
