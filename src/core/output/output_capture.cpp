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

/// Of the sanitizers' runtime, if the process has one.
extern "C" __attribute__((weak)) void __sanitizer_set_report_fd(void* fd);

namespace trainrt {

namespace {

constexpr double most_wait_s = 1;  // if the terminal or the storage takes nothing, the runtime's words go first

std::atomic<OutputReader*> current = nullptr;
std::atomic<pid_t> current_process = 0;  // a forked child has no thread that reads
std::atomic<bool> current_is_shown = true;
const OutputReader* of_child = nullptr;
std::shared_mutex in_use;  // held alone to take `current` away, or `of_child`
std::mutex saying;

/// Waits until what has been written arrived.
void settle() {
  if (const auto* reader = current.load(); reader != nullptr && current_process == getpid()) reader->settle(most_wait_s);
}

void flush_all() {
  std::fflush(stdout);
  std::cout.flush();
  std::clog.flush();
}

/// glibc chooses the buffering with the first output: by lines only if descriptor 1 is a terminal then. The C standard
/// allows another choice only before; glibc takes one with a new buffer at any time, and it counts at once (without a new
/// buffer, not before the old one is flushed). A stream that somebody has made unbuffered stays so.
void buffer_output_by_lines() {
  static std::array<char, BUFSIZ> buffer;
  constexpr std::size_t unbuffered = 1;
  if (__fbufsize(stdout) == unbuffered) return;
  if (std::setvbuf(stdout, buffer.data(), _IOLBF, buffer.size()) != 0) return;  // it stays as it is
}

/// They end the process by _exit() as soon as they have reported why.
void lead_sanitizers() {
  if (__sanitizer_set_report_fd == nullptr) return;
  const std::intptr_t fd = standard_error();
  __sanitizer_set_report_fd(reinterpret_cast<void*>(fd));
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // there is nobody to tell
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

OwnOutput::OwnOutput(OutputPlan plan, const std::string& title) {
  flush_all();
  keep_standard_streams();
  buffer_output_by_lines();
  lead_sanitizers();
  plan.out = standard_output();
  plan.error = standard_error();
  reader_ = std::make_unique<OutputReader>(plan);
  reader_->begin(title, OutputReader::Writer::this_process);
  dup2(reader_->output_end(), STDOUT_FILENO);
  dup2(reader_->error_end(), STDERR_FILENO);
  current_process = getpid();
  current_is_shown = plan.terminal != OutputPlan::Terminal::nothing;
  current = reader_.get();
}

/// A terminal that is held up is waited for, as by whoever writes to it; processes that are left behind and go on printing
/// are not.
OwnOutput::~OwnOutput() {
  constexpr std::uint64_t most_left = 1 << 20;  // far more than the pipes hold
  flush_all();
  restore_standard_streams();
  const auto before = reader_->bytes_read();
  while (!reader_->settle(most_wait_s) && reader_->bytes_read() - before < most_left) {
  }
  const std::lock_guard alone(in_use);
  current = nullptr;
}

void OwnOutput::say(Stream stream, std::string_view text) {
  if (stream == Stream::output) std::fflush(stdout);
  if (!OutputReader::is_this_thread()) {
    const std::shared_lock lock(in_use);
    settle();
    if (of_child != nullptr) of_child->settle(most_wait_s);
  }
  const std::lock_guard lock(saying);
  put(stream == Stream::output ? standard_output() : standard_error(), text);
}

void OwnOutput::follow(const OutputReader* output) {
  const std::lock_guard alone(in_use);
  of_child = output;
}

/// Into a pipe that has room: if nobody takes what is in it, there is none.
void OwnOutput::flush() {
  const auto* reader = current.load();
  if (reader == nullptr || current_process != getpid() || reader->settle(most_wait_s)) flush_all();
}

void OwnOutput::give_back_at_exit() {
  if (current == nullptr) return;
  if (!OutputReader::is_this_thread()) settle();
  restore_standard_streams();
}

OwnOutput::Last OwnOutput::last() {
  const std::shared_lock lock(in_use);
  auto* reader = current.load();
  if (reader == nullptr) return {};
  return {printable_end(reader->tail(most_wait_s)), current_is_shown};
}

OwnOutput::LastInHandler OwnOutput::last_in_handler(std::span<char> room) {
  const auto* reader = current.load();
  if (reader == nullptr) return {};
  const auto bytes = room.first(reader->end_of_log(room));
  for (char& each : bytes)
    if (each != '\n' && (each < ' ' || each > '~')) each = '?';
  return {end_of_lines({bytes.data(), bytes.size()}), current_is_shown};
}

}  // namespace trainrt
