#pragma once
#include <string>
#include <string_view>

#include "program/children/child.hpp"

namespace trainrt::program {

/// Stops all processes of a program with SIGSTOP, so that they do not notice the end of another rank's program.
void freeze(const Child& program);

/// Makes the Python processes of a program, which may be frozen, print the stacks of all their threads, and ends them. The
/// stacks are printed by Python's faulthandler at SIGABRT (PYTHONFAULTHANDLER = 1). Handles at most 8 processes, parents
/// first, within 2 s each. Returns the printed text, with a headline for each process; the log of the program has it too.
/// Writes no core files.
std::string end_with_python_stacks(const Child& program);

/// Headline of stacks that LiveStacks has requested.
constexpr std::string_view live_headline = "Stacks, printed on request";

/// Position of a Python program, according to the output of faulthandler.
struct PythonPosition {
  std::string
      collective;  ///< function of torch.distributed or torch.autograd that the main thread is in; "" outside of these
  std::string innermost;  ///< innermost frame of the main thread, "train.py, line 7 in step"; "" if there is no stack

  bool operator==(const PythonPosition&) const = default;
};

/// Returns the position of the first process that is in a collective, or else of the first process. Pure.
PythonPosition python_position(std::string_view stacks);

}  // namespace trainrt::program
