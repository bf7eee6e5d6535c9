#include "cli/start/script_input.hpp"

#include <string>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/process/program_input.hpp"
#include "launch/launcher.hpp"
#include "program/children/script.hpp"

namespace trainrt::cli {

namespace {

[[noreturn]] void throw_no_script(const config::RunSpec& spec, std::string reason) {
  if (const int rank = launch::claimed_rank(Environment::of_process()); rank > 0)
    reason += fmt::format(
        " on rank {} (mpiexec passes standard input only to rank 0; trainrt -n and srun pass it to all ranks)", rank);
  throw UsageError(
      fmt::format("train.program: '{0}' reads its script from standard input, {1}. Name the script (trainrt -n 2 -- "
                  "python3 train.py), or redirect it (trainrt -n 2 -- {0} < train.py)",
                  spec.train.program, reason));
}

}  // namespace

void hold_script_from_input(const config::RunSpec& spec) {
  if (!program::reads_script_from_input(spec.train.command)) return;
  if (isatty(STDIN_FILENO) != 0) throw_no_script(spec, "which is a terminal");
  std::size_t bytes = 0;
  if (input_kind() != InputKind::none) try {
      bytes = hold_input(spec.failure.launch_timeout_s);
    } catch (const UsageError& error) {
      throw_no_script(spec, fmt::format("but {}", error.what()));
    }
  if (bytes == 0) throw_no_script(spec, "which is empty");
}

}  // namespace trainrt::cli
