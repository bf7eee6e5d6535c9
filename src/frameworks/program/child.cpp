#include "frameworks/program/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/ignored_signal.hpp"
#include "core/process/processes.hpp"
#include "core/process/vfork_child.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "frameworks/program/memory_kill.hpp"
#include "frameworks/program/signal_targets.hpp"
#include "frameworks/program/start_error.hpp"

namespace trainrt::program {

namespace {

using Clock = std::chrono::steady_clock;

enum class Life { ends_with_parent, outlives_parent };

/// What becomes the standard streams of a child.
struct Streams {
  int input;
  int output = STDOUT_FILENO;
  int error = STDERR_FILENO;
};

// What follows up to execve() runs in the child, in its parent's memory: system calls only.

/// Signals that this process ignores stay ignored, but for `stop_signal`: the runtime sends that one. 0: none.
void set_signals(int stop_signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number)
    if (number == stop_signal || !is_signal_ignored(number)) sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP})
    if (number != stop_signal) sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// From the standard ones on.
void close_files_at_exec() {
#if defined(SYS_close_range) && defined(CLOSE_RANGE_CLOEXEC)
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
#endif
  constexpr int most = 65536;  // Linux before 5.11
  for (int number = 3; number < most; ++number) fcntl(number, F_SETFD, FD_CLOEXEC);
}

/// errno if the program could not be started.
[[noreturn]] void become(const ChildPlan& plan, char** words, char** environment, Streams streams, pid_t parent, Life life,
                         volatile int& failure) {
  setpgid(0, 0);
  if (life == Life::ends_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before
  }
  dup2(streams.input, STDIN_FILENO);
  dup2(streams.output, STDOUT_FILENO);
  dup2(streams.error, STDERR_FILENO);
  close_files_at_exec();
  fcntl(plan.socket, F_SETFD, 0);
  for (const int socket : plan.other_sockets) fcntl(socket, F_SETFD, 0);
  set_signals(plan.stop_signal);
  execve(plan.executable.c_str(), words, environment);
  failure = errno;
  _exit(127);
}

struct Started {
  pid_t pid = -1;
  int failure = 0;  ///< errno
};

Started start(const ChildPlan& plan, Streams streams, Life life) {
  auto words = pointers_to(plan.words);
  auto environment = pointers_to(plan.environment);
  volatile int failure = 0;
  const SignalsBlocked blocked;
  const auto parent = getpid();
  const pid_t pid = vfork();  // not fork(): pages that a network card writes to must stay this process's own
  if (pid == 0) become(plan, words.data(), environment.data(), streams, parent, life, failure);
  if (pid < 0) return {pid, errno};
  if (failure != 0) waitpid(pid, nullptr, 0);
  return {pid, failure};
}

/// "123 (sleep 300), 124 (sh -c ...) and 3 more"
std::string in_words(const std::vector<pid_t>& processes) {
  constexpr std::size_t max_named = 4, max_command_bytes = 60;
  std::string text;
  for (std::size_t i = 0; i < std::min(max_named, processes.size()); ++i) {
    auto command = trim(command_text(processes[i]));
    if (command.size() > max_command_bytes) command = command.substr(0, max_command_bytes) + "...";
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", processes[i], printable_text(command));
  }
  return processes.size() <= max_named ? text : fmt::format("{} and {} more", text, processes.size() - max_named);
}

}  // namespace

Child::Child(const ChildPlan& plan) : stop_signal_(plan.stop_signal) {
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Streams streams{plan.input >= 0 ? plan.input : null.number()};
  if (plan.output) {
    output_ = std::make_shared<OutputTee>(*plan.output);
    streams.output = output_->output_end();
    streams.error = output_->error_end();
  }
  auto marked = plan;
  marked.environment.push_back(leftovers_.mark());
  const auto started = start(marked, streams, Life::ends_with_parent);
  if (started.failure != 0) throw_not_started(plan.executable, started.failure);
  pid_ = started.pid;
  if (output_) {
    output_->begin(fmt::format("{}, process {}", plan.title, pid_));
    OutputCapture::follow(output_.get());
  }
  watch_ = std::make_unique<EndWatch>(pid_);
  start_guard();
}

/// The kernel ends the child alone with this process. If a guard cannot be had, that must do.
void Child::start_guard() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor input(ends[0]);
  lifeline_ = Descriptor(ends[1]);
  const ChildPlan guard{
      .executable = "/bin/sh",
      .words = {"sh", "-c", "read -r end; kill -s KILL -- \"-$1\" 2>/dev/null; " + Leftovers::kill_command(), "sh",
                std::to_string(pid_), leftovers_.mark(), Leftovers::job_variable()}};
  if (const auto started = start(guard, {input.number()}, Life::outlives_parent); started.failure == 0)
    guard_ = started.pid;
}

Child::~Child() {
  const bool runs = !ending();
  if (runs) leftovers_.note(pid_);
  kill(-pid_, SIGKILL);  // the group outlives its first process
  if (runs) waitpid(pid_, nullptr, 0);
  leftovers_.kill_all();
  watch_.reset();
  if (output_) OutputCapture::follow(nullptr);
  output_.reset();
  if (guard_ < 0) return;
  kill(guard_, SIGKILL);
  waitpid(guard_, nullptr, 0);
}

const std::optional<Ending>& Child::ending() {
  int status = 0;
  rusage used{};
  if (!ending_ && wait4(pid_, &status, WNOHANG, &used) == pid_)
    note_end(status, static_cast<std::uint64_t>(used.ru_maxrss) << 10);
  return ending_;
}

void Child::note_end(int status, std::uint64_t held_bytes) {
  ending_.emplace();
  if (WIFSIGNALED(status)) ending_->signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending_->exit_code = WEXITSTATUS(status);
  ending_->memory = memory_kill_in_words(
      *ending_,
      {.before = memory_kills_, .after = memory_kills(), .held_bytes = held_bytes, .limit_bytes = memory_limit()});
}

double Child::end_age_s() const { return watch_->age_s(); }

void Child::stop() const {
  const auto catchers = first_to_catch(members_of_group(pid_, stop_signal_), pid_);
  for (const pid_t catcher : catchers) kill(catcher, stop_signal_);
  if (catchers.empty()) kill(-pid_, stop_signal_);
}

bool Child::is_over() {
  constexpr double between_looks_s = 0.1;
  if (!ending()) return false;
  if (is_over_ || !ended_by_stop_signal()) return true;
  if (monotonic_seconds() < next_look_s_) return false;
  next_look_s_ = monotonic_seconds() + between_looks_s;
  is_over_ = survivors().empty();
  return is_over_;
}

/// Of a first process that has ended. The number that a client in a container has there may be another process's here:
/// it must have this program's mark.
std::vector<pid_t> Child::survivors() const {
  std::vector<pid_t> found;
  if (kill(-pid_, 0) == 0 || errno == EPERM)
    for (const auto& member : members_of_group(pid_, stop_signal_)) found.push_back(member.pid);
  if (client_ > 0 && runs(client_) && std::ranges::find(found, client_) == found.end())
    if (std::ranges::count(leftovers_.running(), client_) > 0) found.push_back(client_);
  return found;
}

void Child::stop_rest() const {
  const auto members = members_of_group(pid_, stop_signal_);
  if (!members.empty() && std::ranges::none_of(members, &GroupMember::catches)) kill(-pid_, stop_signal_);
}

std::string Child::survivors_in_words() const { return in_words(survivors()); }

std::string Child::strays_in_words() const { return in_words(leftovers_.running()); }

std::string Child::output_tail() const { return output_ ? output_->tail() : ""; }

std::uint64_t Child::output_bytes() const { return output_ ? output_->bytes_read() : 0; }

bool Child::ends_within(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!ending()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace trainrt::program
