#include "core/output/output_tee.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/thread.hpp"

namespace trainrt {

namespace {

// Size of the buffer for reading a pipe in bytes: the default capacity of a pipe in Linux.
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
// Maximum time in seconds that the destructor reads the rest of the output, if another process still writes.
constexpr double max_end_s = 2;

thread_local bool is_reading = false;

}  // namespace

OutputTee::OutputTee(const OutputTargets& targets)
    : log_(targets.log), listener_(targets.listener), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (targets.holds_log) log_.hold();
  add_source(targets, targets.out);
  if (!targets.is_one_stream()) add_source(targets, targets.error);
}

void OutputTee::add_source(const OutputTargets& targets, int shown_on) {
  Pipe pipe;
  if (!wake_ || !pipe) throw Error(fmt::format("cannot make a pipe for the output of this rank: {}", std::strerror(errno)));
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  sources_.push_back({std::move(pipe), std::make_unique<TerminalWriter>(targets, shown_on)});
}

OutputTee::~OutputTee() {
  close_write_ends();
  stopping_ = true;
  for (auto& source : sources_) source.terminal->hurry();
  wake();
  if (thread_.joinable()) thread_.join();
}

void OutputTee::begin(const std::string& title, Writer writer) {
  if (writer == Writer::child) {
    close_write_ends();
    log_.begin(title);
  } else {
    log_.begin_with_output(title);
  }
  thread_ = thread_without_signals([this] { read_all(); });
}

void OutputTee::close_write_ends() {
  for (auto& source : sources_) source.pipe.write_end.reset();
}

void OutputTee::wake() const {
  const std::uint64_t one = 1;
  // write(2) fails only if the counter of the eventfd is at its maximum. The reading thread is awake in this case.
  if (write(wake_.get(), &one, sizeof one) < 0) return;
}

void OutputTee::switch_file(std::string log, std::string title) {
  {
    const std::lock_guard lock(mutex_);
    next_file_ = {std::move(log), std::move(title)};
  }
  wake();
}

void OutputTee::take_next_file() {
  std::optional<NextFile> next;
  {
    const std::lock_guard lock(mutex_);
    next.swap(next_file_);
  }
  if (!next) return;
  log_.switch_to(std::move(next->path), next->title);
  is_full_ = false;
}

bool OutputTee::is_reading_thread() { return is_reading; }

bool OutputTee::drain(double limit_s) const {
  constexpr long first_pause_ns = 20'000;
  constexpr long max_pause_ns = 2'000'000;
  const auto mine = ++drains_asked_;
  wake();
  const auto until_s = monotonic_seconds() + limit_s;
  for (auto pause_ns = first_pause_ns; drains_done_ < mine && monotonic_seconds() < until_s;
       pause_ns = std::min(2 * pause_ns, max_pause_ns)) {
    const timespec pause{0, pause_ns};
    nanosleep(&pause, nullptr);
  }
  return drains_done_ >= mine;
}

std::string OutputTee::tail(double limit_s) {
  drain(limit_s);
  const std::lock_guard lock(mutex_);
  return tail_.text();
}

void OutputTee::read_all() {
  is_reading = true;
  buffer_.resize(buffer_bytes);
  double end_s = 0;  // time at which reading ends even if more output comes; 0: not stopping yet
  for (;;) {
    const auto asked = drains_asked_.load();
    const bool stopping = stopping_;
    if (stopping && end_s == 0) end_s = monotonic_seconds() + max_end_s;
    take_next_file();
    bool found = false;
    for (auto& source : sources_) found = read_from(source) || found;
    drains_done_ = asked;  // one pass reads up to the capacity of a pipe: all bytes that were in the pipe
    if (found && !(stopping && monotonic_seconds() > end_s)) continue;
    if (stopping) break;
    std::vector<pollfd> ready{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& source : sources_)
      ready.push_back({.fd = is_full_ ? -1 : source.pipe.read_end.get(), .events = POLLIN, .revents = 0});
    poll(ready.data(), ready.size(), -1);
    std::uint64_t count = 0;
    if (read(wake_.get(), &count, sizeof count) < 0) continue;  // the eventfd is empty: poll() returned for a pipe
  }
  for (auto& source : sources_) source.terminal->finish();
}

/// Reads the next bytes of the output from a pipe and passes them to log, terminal and callback. Returns false if the pipe
/// is empty or closed, or if reading is suspended (is_full()).
bool OutputTee::read_from(Source& source) {
  auto& read_end = source.pipe.read_end;
  if (!read_end || is_full_) return false;
  const auto length = read(read_end.get(), buffer_.data(), buffer_.size());
  if (length < 0 && errno == EINTR) return true;
  if (length < 0 && errno == EAGAIN) return false;
  if (length <= 0) {
    read_end.reset();  // all write ends are closed; poll() skips the descriptor -1
    return false;
  }
  const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(length));
  log_.add(bytes);
  is_full_ = log_.is_full();
  {
    const std::lock_guard lock(mutex_);
    tail_.add(bytes);
  }
  bytes_read_ += bytes.size();
  if (listener_) listener_(static_cast<std::size_t>(&source - sources_.data()), bytes);
  if (is_shown_) source.terminal->add(bytes);
  return true;
}

}  // namespace trainrt
