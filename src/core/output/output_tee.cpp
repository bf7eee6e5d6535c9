#include "core/output/output_tee.hpp"

#include <algorithm>
#include <array>
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

constexpr std::size_t piece_bytes = std::size_t{64} << 10;  // what a pipe holds
constexpr double most_at_the_end_s = 2;                     // while a process that was left behind writes and writes

thread_local bool reads = false;

void close_end(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

OutputReader::OutputReader(const OutputPlan& plan)
    : log_(plan.log), listener_(plan.listener), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (plan.holds_log) log_.hold();
  if (plan.is_one_stream()) {
    add_source(plan, plan.out);
    return;
  }
  add_source(plan, plan.out);
  add_source(plan, plan.error);
}

void OutputReader::add_source(const OutputPlan& plan, int shown_on) {
  std::array<int, 2> ends{-1, -1};
  if (wake_ < 0 || pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe can be had for the output of this rank: {}", std::strerror(errno)));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.push_back({ends[0], ends[1], std::make_unique<OutputView>(plan, shown_on)});
}

OutputReader::~OutputReader() {
  close_write_ends();
  stopping_ = true;
  for (auto& source : sources_) source.view->hurry();
  wake();
  if (thread_.joinable()) thread_.join();
  for (auto& source : sources_) close_end(source.read_end);
  close_end(wake_);
}

void OutputReader::begin(const std::string& title, Writer writer) {
  if (writer == Writer::child) {
    close_write_ends();
    log_.begin(title);
  } else {
    log_.begin_with_output(title);
  }
  thread_ = thread_without_signals([this] { read_all(); });
}

void OutputReader::close_write_ends() {
  for (auto& source : sources_) close_end(source.write_end);
}

void OutputReader::wake() const {
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof one) < 0) return;  // it is awake
}

void OutputReader::lead_to(std::string log, std::string title) {
  {
    const std::lock_guard lock(mutex_);
    next_log_ = {std::move(log), std::move(title)};
  }
  wake();
}

void OutputReader::take_next_log() {
  std::optional<NextLog> next;
  {
    const std::lock_guard lock(mutex_);
    next.swap(next_log_);
  }
  if (!next) return;
  log_.lead_to(std::move(next->path), next->title);
  is_full_ = false;
}

bool OutputReader::is_this_thread() { return reads; }

bool OutputReader::settle(double limit_s) const {
  constexpr long first_look_ns = 20'000;
  constexpr long most_look_ns = 2'000'000;
  const auto mine = ++asked_;
  wake();
  const auto until_s = monotonic_seconds() + limit_s;
  for (auto look_ns = first_look_ns; answered_ < mine && monotonic_seconds() < until_s;
       look_ns = std::min(2 * look_ns, most_look_ns)) {
    const timespec look{0, look_ns};
    nanosleep(&look, nullptr);
  }
  return answered_ >= mine;
}

std::string OutputReader::tail(double limit_s) {
  settle(limit_s);
  const std::lock_guard lock(mutex_);
  return tail_.text();
}

void OutputReader::read_all() {
  reads = true;
  buffer_.resize(piece_bytes);
  double end_s = 0;  // when it is given up to read on, once this is stopping
  for (;;) {
    const auto asked = asked_.load();
    const bool stopping = stopping_;
    if (stopping && end_s == 0) end_s = monotonic_seconds() + most_at_the_end_s;
    take_next_log();
    bool found = false;
    for (auto& source : sources_) found = read_from(source) || found;
    answered_ = asked;  // a pass takes as much as a pipe holds, so all that was there
    if (found && !(stopping && monotonic_seconds() > end_s)) continue;
    if (stopping) break;
    std::vector<pollfd> ready{{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const auto& source : sources_)
      ready.push_back({.fd = is_full_ ? -1 : source.read_end, .events = POLLIN, .revents = 0});
    poll(ready.data(), ready.size(), -1);
    std::uint64_t count = 0;
    if (read(wake_, &count, sizeof count) < 0) continue;  // nobody woke it
  }
  for (auto& source : sources_) source.view->finish();
}

/// False if nothing is there.
bool OutputReader::read_from(Source& source) {
  if (source.read_end < 0 || is_full_) return false;
  const auto length = read(source.read_end, buffer_.data(), buffer_.size());
  if (length < 0 && errno == EINTR) return true;
  if (length < 0 && errno == EAGAIN) return false;
  if (length <= 0) {
    close_end(source.read_end);  // nobody has the other end any more; poll() passes over it
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
  source.view->add(bytes);
  return true;
}

}  // namespace trainrt
