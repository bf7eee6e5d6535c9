#include "core/process/stack_trace.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <cxxabi.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/options.hpp"
#include "core/process/processes.hpp"
#include "core/process/symbols.hpp"

namespace trainrt {

namespace {

/// The request of one thread for the call stack of another thread; at most one request at a time. State transitions:
/// - The signal handler of the other thread: from `wanted` to `filling` to `done`.
/// - The requesting thread, after the time limit: from `wanted` to `idle`, so that a late handler does nothing.
struct Request {
  enum State { idle, wanted, filling, done };
  std::atomic<int> state = idle;
  std::atomic<pid_t> thread = 0;
  StackFrames frames;
};
Request request;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler uses it");

pid_t own_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

void answer(int) {
  const int error = errno;
  int state = Request::wanted;
  if (request.thread.load() == own_thread() && request.state.compare_exchange_strong(state, Request::filling)) {
    request.frames = interrupted_stack();
    request.state.store(Request::done);
  }
  errno = error;
}

/// Installs the signal handler answer() for an unused real-time signal and returns the signal's number; 0 if all real-time
/// signals are in use.
int install_answer() {
  stack_here();  // loads the unwinder, since a signal handler must not load it
  for (int number = SIGRTMAX - 5; number > SIGRTMIN; --number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = answer;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, nullptr) == 0) return number;
  }
  return 0;
}

}  // namespace

[[gnu::noinline]] StackFrames stack_here(int skipped) noexcept {
  StackFrames frames;
  void* all[StackFrames::max_frames];
  const int count = backtrace(all, StackFrames::max_frames);
  // Leaves out the frames of this function itself and of AddressSanitizer, which come before the caller's frame.
  const auto caller = std::find(all, all + count, __builtin_return_address(0)) - all;
  for (auto i = caller + skipped; i < count; ++i) frames.addresses[frames.count++] = all[i];
  return frames;
}

[[gnu::noinline]] StackFrames interrupted_stack() noexcept {
  auto frames = stack_here(3);  // skips the frames of this function, the handler and the kernel's signal trampoline
  frames.interrupted = true;
  return frames;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

std::string describe(const StackFrames& frames) {
  std::string text;
  for (int i = 0; i < frames.count; ++i) {
    Symbol symbol;
    find_symbol(frames.code_at(i), symbol);
    const std::string file = symbol.file == nullptr ? "?" : std::filesystem::path(symbol.file).filename().string();
    text += fmt::format("  #{} {}+{:#x} ({})\n", i, symbol.name[0] == '\0' ? file : demangled(symbol.name), symbol.offset,
                        file);
  }
  return text;
}

StackFrames stack_of(pid_t thread, double limit_seconds) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static const int signal_number = install_answer();
  if (signal_number == 0) return {};
  request.thread = thread;
  request.state = Request::wanted;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_seconds);
  if (syscall(SYS_tgkill, getpid(), thread, signal_number) == 0)
    while (request.state != Request::done && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  int state = Request::wanted;
  const bool unanswered = request.state.compare_exchange_strong(state, Request::idle);
  // If the signal handler has begun to fill the request, wait until it is done.
  while (!unanswered && request.state != Request::done) std::this_thread::yield();
  request.state = Request::idle;
  return unanswered ? StackFrames{} : request.frames;
}

std::string stacks_of_other_threads(pid_t left_out) {
  constexpr int max_threads = 64;
  constexpr double limit_seconds = 0.2;
  std::string text;
  int count = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const auto number = parse_integer(entry.path().filename().string());
    if (!number || *number == left_out || *number == own_thread()) continue;
    if (++count > max_threads) return text + "further threads are left out\n";
    const auto thread = static_cast<pid_t>(*number);
    const auto frames = stack_of(thread, limit_seconds);
    text += fmt::format("thread {} ({}){}\n{}", thread, status_value(thread, "Name:"),
                        frames.count == 0 ? ": does not answer" : "", describe(frames));
  }
  return text;
}

}  // namespace trainrt
