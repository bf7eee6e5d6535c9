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

/// The arguments of serve_program(): the objects of one attempt of a run.
struct ProgramRunParts {
  Context& ctx;
  const ProgramOptions& options;
  const std::optional<ProgressPattern>& progress;
  ProgressWatch* progress_watch = nullptr;  ///< set on rank 0 if `progress` is set
  LiveStacks& stacks;
  RunningProgram& program;
  std::function<void()> begins = {};  ///< called when the program is ready to train; may be empty
};

/// Serves the program of this rank until the programs of all ranks have exited (returns true), or until all have closed
/// the run and wait for the answer (returns false). Throws ProgramFailed if a program fails. If the Context throws,
/// notifies the program, waits until the program has exited, and rethrows the exception. Collective.
bool serve_program(const ProgramRunParts& parts);

}  // namespace trainrt::program
