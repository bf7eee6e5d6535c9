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

/// What an attempt of a run does with the program of its rank.
struct ProgramRunParts {
  Context& ctx;
  const ProgramOptions& options;
  const std::optional<ProgressPattern>& progress;
  ProgressWatch* progress_watch = nullptr;  ///< rank 0's, if there is a pattern
  LiveStacks& stacks;
  RunningProgram& program;
  std::function<void()> begins = {};  ///< Conversation::Rules::begins
};

/// Serves the program until those of all ranks have ended (true), or have closed the run, and wait for the answer.
/// Collective. Throws ProgramFell if one falls; what the Context throws, once the program has been told and has ended.
bool serve_program(const ProgramRunParts& parts);

}  // namespace trainrt::program
