#include "core/output/output_capture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <stdio_ext.h>
#include <unistd.h>

#include "core/output/output_tail.hpp"
#include "core/output/standard_streams.hpp"

/// A function of the sanitizers' runtime library: sets the descriptor to which a sanitizer writes its reports. nullptr in a
/// process without a sanitizer.
extern "C" __attribute__((weak)) void __sanitizer_set_report_fd(void* fd);

namespace trainrt {

namespace {

// Maximum time in seconds for which a message of the runtime waits until log and terminal have accepted earlier output.
// After that time, the message is written before the earlier output.
constexpr double max_wait_s = 1;

std::atomic<OutputTee*> current = nullptr;
std::atomic<pid_t> current_process = 0;  // the process that has the reading thread; its forked children have none
std::atomic<bool> current_is_shown = true;
const OutputTee* child_tee = nullptr;
std::shared_mutex tees_mutex;  // protects the OutputTees `current` and `child_tee`; locked exclusively to reset a pointer
std::mutex write_mutex;        // held while a message is written, so that messages do not mix

/// Waits, at most max_wait_s seconds, until log and terminal have received all output that this process has printed.
void drain() {
  if (const auto* tee = current.load(); tee != nullptr && current_process == getpid()) tee->drain(max_wait_s);
}

void flush_all() {
  std::fflush(stdout);
  std::cout.flush();
  std::clog.flush();
}

/// Makes standard output line buffered, unless it is unbuffered. Otherwise glibc would buffer by lines only if descriptor 1
/// is a terminal, and not if it is a pipe.
///
/// The C standard forbids setvbuf() after the first output. glibc allows it, and with a new buffer the change takes effect
/// at once.
void buffer_output_by_lines() {
  static std::array<char, BUFSIZ> buffer;
  constexpr std::size_t unbuffered = 1;
  if (__fbufsize(stdout) == unbuffered) return;
  static_cast<void>(std::setvbuf(stdout, buffer.data(), _IOLBF, buffer.size()));
}

/// Redirects the reports of a sanitizer to the original standard error. The sanitizer ends the process by _exit() after a
/// report, so a report in the pipe could be lost.
void redirect_sanitizers() {
  if (__sanitizer_set_report_fd == nullptr) return;
  const std::intptr_t fd = standard_error();
  __sanitizer_set_report_fd(reinterpret_cast<void*>(fd));
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // standard error failed, so that the failure cannot be reported
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

OutputCapture::OutputCapture(OutputTargets targets, const std::string& title) {
  flush_all();
  keep_standard_streams();
  buffer_output_by_lines();
  redirect_sanitizers();
  targets.out = standard_output();
  targets.error = standard_error();
  tee_ = std::make_unique<OutputTee>(targets);
  tee_->begin(title, OutputTee::Writer::this_process);
  dup2(tee_->output_end(), STDOUT_FILENO);
  dup2(tee_->error_end(), STDERR_FILENO);
  current_process = getpid();
  current_is_shown = targets.terminal != OutputTargets::Terminal::nothing;
  current = tee_.get();
}

/// Waits until log and terminal have all output, even while the terminal is stopped (Ctrl-S), as a write to the terminal
/// would. Does not wait for child processes that continue to print.
OutputCapture::~OutputCapture() {
  constexpr std::uint64_t max_left_bytes = 1 << 20;  // limit of the output to wait for; pipes hold far less
  flush_all();
  restore_standard_streams();
  const auto before = tee_->bytes_read();
  while (!tee_->drain(max_wait_s) && tee_->bytes_read() - before < max_left_bytes) {
  }
  const std::lock_guard alone(tees_mutex);
  current = nullptr;
}

void OutputCapture::write(Stream stream, std::string_view text) {
  if (stream == Stream::output) std::fflush(stdout);
  if (!OutputTee::is_reading_thread()) {
    const std::shared_lock lock(tees_mutex);
    drain();
    if (child_tee != nullptr) child_tee->drain(max_wait_s);
  }
  const std::lock_guard lock(write_mutex);
  put(stream == Stream::output ? standard_output() : standard_error(), text);
}

void OutputCapture::follow(const OutputTee* output) {
  const std::lock_guard alone(tees_mutex);
  child_tee = output;
}

/// Waits until the pipe for this process's output is empty, then flushes: a write to a full pipe would block.
void OutputCapture::flush() {
  const auto* tee = current.load();
  if (tee == nullptr || current_process != getpid() || tee->drain(max_wait_s)) flush_all();
}

void OutputCapture::restore_at_exit() {
  if (current == nullptr) return;
  if (!OutputTee::is_reading_thread()) drain();
  restore_standard_streams();
}

OutputCapture::Last OutputCapture::last() {
  const std::shared_lock lock(tees_mutex);
  auto* tee = current.load();
  if (tee == nullptr) return {};
  return {printable_end(tee->tail(max_wait_s)), current_is_shown};
}

OutputCapture::LastInHandler OutputCapture::last_in_handler(std::span<char> room) {
  const auto* tee = current.load();
  if (tee == nullptr) return {};
  const auto bytes = room.first(tee->copy_end(room));
  for (char& each : bytes)
    if (each != '\n' && (each < ' ' || each > '~')) each = '?';
  return {end_of_lines({bytes.data(), bytes.size()}), current_is_shown};
}

}  // namespace trainrt
