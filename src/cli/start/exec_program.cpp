#include "cli/start/exec_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "config/launch_settings.hpp"
#include "core/process/program_input.hpp"
#include "core/process/spawn.hpp"
#include "core/rank_zero.hpp"
#include "program/children/script.hpp"
#include "program/children/start_error.hpp"

namespace trainrt::cli {

void exec_program(const config::RunSpec& spec, int rank) {
  auto command = spec.train.command;
  const auto executable = find_executable(command.front());
  if (executable.empty()) throw UsageError(program::not_found_in_words(command.front()));
  setenv(config::launch_settings_variable, config::launch_settings_text(spec.given).c_str(), 1);
  bool has_input = program::reads_script_from_input(spec.train.command);
  RankZero(rank).run([&] { has_input = true; });
  if (!has_input) drop_input();
  std::vector<char*> words;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(executable.c_str(), words.data());
  program::throw_not_started(executable, errno);
}

}  // namespace trainrt::cli
