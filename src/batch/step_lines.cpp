#include "batch/step_lines.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "batch/restart_decision.hpp"
#include "batch/signals.hpp"
#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::batch {

namespace {

constexpr std::string_view exited = "Exited with exit code ";

/// Returns the part of `line` after the first occurrence of `mark`; nullopt if `line` does not contain `mark`.
std::optional<std::string_view> text_after(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + mark.size());
}

/// Returns whether the exit of one task means that all tasks of the job step exit. This is the case for the exit codes that
/// the ranks agree on, or with which one rank aborts the others. `how` is srun's description of the exit, such as "Exited
/// with exit code 3".
bool ends_step(std::string_view how) {
  if (!how.starts_with(exited)) return false;
  const auto code = parse_integer(std::string(how.substr(exited.size())));
  constexpr std::array agreed = {0, 64, 70, 75, 76};
  return code && std::ranges::find(agreed, *code) != agreed.end();
}

/// Returns the number of the signal that srun's description of a task's end names ("Killed" is SIGKILL); 0 if `how` names
/// no signal.
int signal_of(std::string_view how) {
  for (int signal = 1; signal < 32; ++signal)
    if (how.starts_with(strsignal(signal))) return signal;
  return 0;
}

/// Returns the number N of the signal that killed a task, or that the task's exit code 128 + N encodes. Returns 0 if no
/// signal ended the task. `how` is srun's description of the exit, such as "Killed".
int deadly_signal(std::string_view how) {
  if (!how.starts_with(exited)) return signal_of(how);
  const auto code = parse_integer(std::string(how.substr(exited.size()))).value_or(0);
  return code > 128 ? static_cast<int>(code - 128) : 0;
}

/// Returns whether a task died of a signal that only an error of the task itself causes, such as SIGSEGV.
bool is_crash(std::string_view how) {
  constexpr std::array crashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  return std::ranges::find(crashes, deadly_signal(how)) != crashes.end();
}

/// Returns the task whose death ended the job step: the first task that crashed or, if no task crashed, the first task
/// that srun reported. A crash has precedence, because the death of another task does not cause crashes.
///
/// Exception: SIGABRT does not count as a crash if the first reported task was killed by SIGKILL, because UCX aborts a
/// process after the death of its peer.
const StepLines::DeadTask& first_to_die(const std::vector<StepLines::DeadTask>& dead) {
  const bool one_was_killed_first = signal_of(dead.front().how) == SIGKILL;
  const auto crashed = std::ranges::find_if(dead, [&](const auto& task) {
    return is_crash(task.how) && !(one_was_killed_first && deadly_signal(task.how) == SIGABRT);
  });
  return crashed != dead.end() ? *crashed : dead.front();
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

}  // namespace

void StepLines::take_task(std::string_view node, std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos) return;
  const auto how = text.substr(colon + 2);
  if (ends_step(how)) {
    stop_was_reported_ |= how == fmt::format("{}{}", exited, static_cast<int>(ExitCode::stopped));
    return;
  }
  const auto signal = signal_of(how);
  if (signal == SIGUSR1 || signal == SIGUSR2) stop_signal_killed_ = true;
  dead_.push_back({std::string(node), std::string(text.substr(0, colon)), std::string(how)});
}

/// A message of Slurm may follow an unfinished line of the program, such as a progress bar, so the text before it is
/// skipped.
void StepLines::take(std::string_view line) {
  if (const auto at = std::min(line.find("slurmstepd"), line.find("srun: ")); at != std::string_view::npos)
    take_message(line.substr(at));
}

void StepLines::take_message(std::string_view line) {
  if (line.starts_with("slurmstepd")) {
    if (line.find("oom-kill event") != std::string_view::npos || line.find("oom_kill event") != std::string_view::npos)
      out_of_memory_ = true;
    const auto reason = line.find(" CANCELLED AT ") != std::string_view::npos ? text_after(line, " DUE TO ") : std::nullopt;
    if (!reason) return;
    const auto cause = trim(reason->substr(0, std::min(reason->find(" ***"), reason->find(','))));
    if (cause != "TASK FAILURE") cancel_reason_ = cause;  // a task ended the step, not Slurm
    return;
  }
  if (line.find("aunch failed") != std::string_view::npos || line.find("Unable to create step") != std::string_view::npos)
    launch_failed_ = true;
  if (line.find("conflicts with allocated node count") != std::string_view::npos) allocation_shrank_ = true;
  if (const auto rest = text_after(line, " failed on node ")) {
    launch_failed_ = true;
    add_once(failed_nodes_, rest->substr(0, rest->find(':')));
  } else if (const auto node = text_after(line, "Node failure on ")) {
    add_once(failed_nodes_, trim(*node));
  } else if (const auto text = text_after(line, "srun: error: ")) {
    const auto task = text->find(": task");
    if (task == std::string_view::npos) return;
    const auto list = text->find(' ', task + 2);
    if (list != std::string_view::npos) take_task(text->substr(0, task), text->substr(list + 1));
  }
}

std::string how_it_ended(const StepLines& lines, int exit_code) {
  if (!lines.cancel_reason().empty()) {
    std::string cause = lines.cancel_reason();
    std::ranges::transform(cause, cause.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return fmt::format("ended by Slurm: {}", cause);
  }
  if (!lines.failed_nodes().empty() && !lines.launch_failed())
    return fmt::format("lost node {} (srun exit {})", fmt::join(lines.failed_nodes(), ","), exit_code);
  if (lines.launch_failed() || exit_code == exit_of_srun)
    return fmt::format("srun could not start the step{} (exit {})",
                       lines.failed_nodes().empty() ? "" : fmt::format(" on {}", fmt::join(lines.failed_nodes(), ",")),
                       exit_code);
  if (lines.dead().empty())
    return exit_code > 128 ? fmt::format("killed by {} (srun exit {})", signal_name(exit_code - 128), exit_code)
                           : fmt::format("ended with exit {}", exit_code);
  const auto& first = first_to_die(lines.dead());
  const auto who = fmt::format("rank {} on {}", first.tasks, first.node);
  const auto signal = signal_of(first.how);
  const auto* memory = lines.out_of_memory() ? ", out of memory" : "";
  if (signal == 0) return fmt::format("failed: {}: {}{} (srun exit {})", who, first.how, memory, exit_code);
  return fmt::format("killed: {} by {}{} (srun exit {})", who, signal_name(signal), memory, exit_code);
}

std::string node_to_blame(const StepLines& lines, bool ranks_ended_it) {
  if (lines.failed_nodes().size() == 1) return lines.failed_nodes().front();
  if (lines.dead().empty() || lines.out_of_memory() || lines.stop_signal_killed()) return {};
  const auto& first = first_to_die(lines.dead());
  const bool was_killed = !ranks_ended_it && signal_of(first.how) == SIGKILL;
  return was_killed || is_crash(first.how) ? first.node : "";
}

}  // namespace trainrt::batch
