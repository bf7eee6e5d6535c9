#pragma once
#include <string>
#include <string_view>

#include "program/children/child.hpp"

namespace trainrt::program {

/// Stops all processes of a program where they are, so that none of them sees another rank's end.
void freeze(const Child& program);

/// Lets the Python processes of a program, which may be frozen, print the stacks of all their threads, as Python's
/// faulthandler does at SIGABRT (PYTHONFAULTHANDLER = 1), and ends them: parents first, each within 2 s, at most 8. Returns
/// what they printed, each under a line with its process; it is in the program's log too. No core files are written.
std::string end_with_python_stacks(const Child& program);

/// Stands above stacks that LiveStacks has asked for.
constexpr std::string_view live_headline = "Stacks that it printed at a signal";

/// Where a program is, by what faulthandler has printed.
struct PythonPlace {
  std::string collective;  ///< the function of torch.distributed or torch.autograd that the main thread is in; "": none
  std::string innermost;   ///< "train.py, line 7 in step": the main thread's; "" if there is no stack

  bool operator==(const PythonPlace&) const = default;
};

/// Of several processes the first that is in a collective counts, else the first. Pure.
PythonPlace python_place(std::string_view stacks);

}  // namespace trainrt::program
