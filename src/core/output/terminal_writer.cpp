#include "core/output/terminal_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <poll.h>
#include <unistd.h>

#include "core/host.hpp"

namespace trainrt {

namespace {

// Timeout in seconds after hurry() for a reader of the output (terminal, pipe) that accepts no bytes.
constexpr double max_reader_wait_s = 2;

}  // namespace

TerminalWriter::TerminalWriter(const OutputTargets& targets, int fd)
    : terminal_(targets.terminal), fd_(fd), lines_(targets.prefix, [this](std::string_view line) { put(line); }) {}

void TerminalWriter::add(std::string_view bytes) {
  if (terminal_ == OutputTargets::Terminal::bytes) put(bytes);
  if (terminal_ == OutputTargets::Terminal::lines) lines_.add(bytes, monotonic_seconds());
}

void TerminalWriter::finish() {
  if (terminal_ == OutputTargets::Terminal::lines) lines_.finish();
}

void TerminalWriter::put(std::string_view bytes) {
  while (!bytes.empty() && can_take()) {
    const auto written = write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN)
      gone_ = true;
  }
}

/// Waits until a write of PIPE_BUF bytes to the output's reader (terminal, pipe) does not block. Returns false if the
/// reader has closed its end, or has accepted nothing within the timeout after hurry().
bool TerminalWriter::can_take() {
  constexpr int poll_ms = 200;
  double left_s = max_reader_wait_s;
  while (!gone_) {
    pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, poll_ms) > 0) return true;
    if (hurried_) left_s -= poll_ms / 1e3;
    gone_ = left_s <= 0;
  }
  return false;
}

}  // namespace trainrt
