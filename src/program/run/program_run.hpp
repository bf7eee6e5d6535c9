#pragma once
#include <functional>
#include <memory>
#include <optional>

#include <trainrt/context.hpp>

#include "program/progress/live_stacks.hpp"
#include "program/progress/progress_pattern.hpp"
#include "program/progress/progress_watch.hpp"
#include "program/run/program.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// Objects that serve_program() uses during one attempt of a run.
struct ProgramRunParts {
  Context& ctx;
  const ProgramOptions& options;
  const std::optional<ProgressPattern>& progress;
  ProgressWatch* progress_watch = nullptr;  ///< set on rank 0 if there is a pattern
  LiveStacks& stacks;
  RunningProgram& program;
  std::function<void()> begins = {};  ///< ProtocolOptions::begins
};

/// Serves the program of this rank until the programs of all ranks have exited (returns true), or have closed the run and
/// wait for the answer (false). Throws ProgramFailed if a program fails. Rethrows errors of the Context after the program
/// was notified and has exited. Collective.
bool serve_program(const ProgramRunParts& parts);

}  // namespace trainrt::program
