#include "program/children/child.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/processes.hpp"
#include "core/process/spawn.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "program/children/memory_kill.hpp"
#include "program/children/signal_targets.hpp"
#include "program/children/start_error.hpp"

namespace trainrt::program {

namespace {

using Clock = std::chrono::steady_clock;

/// Returns a text that lists processes: "123 (sleep 300), 124 (sh -c ...) and 3 more".
std::string in_words(const std::vector<pid_t>& processes) {
  constexpr std::size_t max_named = 4, max_command_bytes = 60;
  std::string text;
  for (std::size_t i = 0; i < std::min(max_named, processes.size()); ++i) {
    auto command = trim(command_text(processes[i]));
    if (command.size() > max_command_bytes) command.replace(max_command_bytes, std::string::npos, "...");
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", processes[i], printable_text(command));
  }
  return processes.size() <= max_named ? text : fmt::format("{} and {} more", text, processes.size() - max_named);
}

}  // namespace

Child::Child(const ChildPlan& plan) : executable_(plan.start.executable), stop_signal_(plan.stop_signal) {
  if (plan.output) output_ = std::make_shared<OutputTee>(*plan.output);
  auto options = plan.start;
  if (output_) {
    options.output = output_->output_end();
    options.error = output_->error_end();
  }
  options.default_signals = {stop_signal_};
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP})
    if (number != stop_signal_) options.ignored_signals.push_back(number);
  options.signal_at_parent_end = SIGKILL;
  if (!options.environment) options.environment = inherited_environment();
  strays_.add_mark(*options.environment);
  pid_ = spawn(options);
  if (pid_ < 0) throw_not_started(options.executable, errno);
  if (output_) {
    output_->begin(fmt::format("{}, process {}", plan.title, pid_));
    OutputCapture::follow(output_.get());
  }
  exit_watch_ = std::make_unique<ExitWatch>(pid_);
  start_guard();
}

/// Starts the guard process, which kills the group when this process exits. Without the guard, the kernel would kill
/// only the first process of the group.
void Child::start_guard() {
  Pipe pipe;
  if (!pipe) return;
  guard_ = spawn(
      {.command = {"/bin/sh", "-c", "read -r end; kill -s KILL -- \"-$1\" 2>/dev/null; " + StrayProcesses::kill_command(),
                   "sh", std::to_string(pid_), strays_.mark(), StrayProcesses::job_variable()},
       .environment = Variables{},
       .input = pipe.read_end.get(),
       .ignored_signals = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP}});
  lifeline_ = std::move(pipe.write_end);
}

Child::~Child() {
  const bool is_running = !exit_status();
  if (is_running) strays_.note(pid_);
  kill(-pid_, SIGKILL);  // the group may still exist after its first process has ended
  if (is_running) waitpid(pid_, nullptr, 0);
  strays_.kill_all();
  exit_watch_.reset();
  if (output_) OutputCapture::follow(nullptr);
  output_.reset();
  if (guard_ < 0) return;
  kill(guard_, SIGKILL);
  waitpid(guard_, nullptr, 0);
}

const std::optional<ExitStatus>& Child::exit_status() {
  int status = 0;
  rusage used{};
  if (!exit_status_ && wait4(pid_, &status, WNOHANG, &used) == pid_)
    note_exit(status, static_cast<std::uint64_t>(used.ru_maxrss) << 10);
  return exit_status_;
}

void Child::note_exit(int status, std::uint64_t held_bytes) {
  exit_status_.emplace();
  if (WIFSIGNALED(status)) exit_status_->signal = WTERMSIG(status);
  if (WIFEXITED(status)) exit_status_->exit_code = WEXITSTATUS(status);
  exit_status_->memory = memory_kill_in_words(
      *exit_status_,
      {.before = memory_kills_, .after = memory_kills(), .held_bytes = held_bytes, .limit_bytes = memory_limit()});
}

double Child::exit_age_s() const { return exit_watch_->age_s(); }

void Child::stop() const {
  const auto catchers = first_to_catch(members_of_group(pid_, stop_signal_), pid_);
  for (const pid_t catcher : catchers) kill(catcher, stop_signal_);
  if (catchers.empty()) kill(-pid_, stop_signal_);
}

bool Child::is_over() {
  constexpr double check_interval_s = 0.1;
  if (!exit_status()) return false;
  if (is_over_ || !ended_by_stop_signal()) return true;
  if (monotonic_seconds() < next_check_s_) return false;
  next_check_s_ = monotonic_seconds() + check_interval_s;
  is_over_ = survivors().empty();
  return is_over_;
}

/// Returns the running processes of the group, and the client if the client runs. Precondition: the first process has
/// ended. A client in a container reports its pid in the container, and another process of the node may have this pid.
/// Therefore the client counts only if its environment has the variable by which StrayProcesses marks this program.
std::vector<pid_t> Child::survivors() const {
  std::vector<pid_t> found;
  if (kill(-pid_, 0) == 0 || errno == EPERM)
    for (const auto& member : members_of_group(pid_, stop_signal_)) found.push_back(member.pid);
  if (client_ > 0 && runs(client_) && std::ranges::find(found, client_) == found.end())
    if (std::ranges::count(strays_.running(), client_) > 0) found.push_back(client_);
  return found;
}

void Child::stop_rest() const {
  const auto members = members_of_group(pid_, stop_signal_);
  if (!members.empty() && std::ranges::none_of(members, &GroupMember::catches)) kill(-pid_, stop_signal_);
}

std::string Child::survivors_in_words() const { return in_words(survivors()); }

std::string Child::strays_in_words() const { return in_words(strays_.running()); }

std::string Child::output_tail() const { return output_ ? output_->tail() : ""; }

std::uint64_t Child::output_bytes() const { return output_ ? output_->bytes_read() : 0; }

bool Child::ends_within(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!exit_status()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace trainrt::program
