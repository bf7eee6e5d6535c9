#pragma once
#include <functional>
#include <memory>
#include <optional>

#include <trainrt/context.hpp>

#include "frameworks/program/live_stacks.hpp"
#include "frameworks/program/program.hpp"
#include "frameworks/program/progress_pattern.hpp"
#include "frameworks/program/progress_watch.hpp"
#include "frameworks/program/running_program.hpp"

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
