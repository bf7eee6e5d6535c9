#pragma once
#include <string>
#include <string_view>

#include "program/children/child.hpp"

namespace trainrt::program {

/// Stops all processes of a program with SIGSTOP, so that their stacks remain as they are: a running program would notice
/// when the program of another rank ends, and leave the call in which it hangs.
void freeze(const Child& program);

/// Makes the Python processes of a program print the stacks of all their threads, and ends them. The processes may be
/// stopped by freeze(). Python's faulthandler prints the stacks at SIGABRT (PYTHONFAULTHANDLER = 1). The function
/// handles at most 8 processes, parents first, and waits at most 2 s for each. It returns the printed stacks with a
/// headline for each process; they are in the program's log, too, and not on the terminal. No core files are written.
std::string end_with_python_stacks(const Child& program);

/// Headline before the stacks that a running program prints on request (LiveStacks).
constexpr std::string_view live_headline = "Stacks, printed on request";

/// Position of a Python program's main thread in its code, from the stacks that faulthandler prints.
struct PythonPosition {
  std::string
      collective;  ///< function of torch.distributed or torch.autograd that the main thread is in; "" outside of these
  std::string innermost;  ///< innermost frame, "train.py, line 7 in step"; "" if there is no stack

  bool operator==(const PythonPosition&) const = default;
};

/// Returns the position of the first process that is in a collective call of torch, or of the first process if there is
/// no such process. Pure function.
PythonPosition python_position(std::string_view stacks);

}  // namespace trainrt::program
