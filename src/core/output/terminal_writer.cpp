#include "core/output/terminal_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <poll.h>
#include <unistd.h>

#include "core/host.hpp"

namespace trainrt {

namespace {

constexpr double most_patience_s = 2;  // with a reader that takes nothing, once there is a hurry

}  // namespace

OutputView::OutputView(const OutputPlan& plan, int fd)
    : terminal_(plan.terminal), fd_(fd), lines_(plan.prefix, [this](std::string_view line) { put(line); }) {}

void OutputView::add(std::string_view bytes) {
  if (terminal_ == OutputPlan::Terminal::bytes) put(bytes);
  if (terminal_ == OutputPlan::Terminal::lines) lines_.add(bytes, monotonic_seconds());
}

void OutputView::finish() {
  if (terminal_ == OutputPlan::Terminal::lines) lines_.finish();
}

void OutputView::put(std::string_view bytes) {
  while (!bytes.empty() && can_take()) {
    const auto written = write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN)
      gone_ = true;
  }
}

/// Waits until a write of PIPE_BUF bytes does not block.
bool OutputView::can_take() {
  constexpr int look_ms = 200;
  double patience_s = most_patience_s;
  while (!gone_) {
    pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, look_ms) > 0) return true;
    if (hurried_) patience_s -= look_ms / 1e3;
    gone_ = patience_s <= 0;
  }
  return false;
}

}  // namespace trainrt
