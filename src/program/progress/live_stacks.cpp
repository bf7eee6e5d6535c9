#include "program/progress/live_stacks.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/processes.hpp"
#include "program/progress/python_stacks.hpp"

namespace trainrt::program {

namespace {

constexpr int max_processes = 8;
constexpr double collect_limit_s = 2;
constexpr double answer_limit_s = 0.5;  // time limit for the answer of one process
constexpr auto poll_interval = std::chrono::milliseconds(50);

/// Waits until the output has grown beyond `before` bytes and has stopped growing, since faulthandler writes line by
/// line.
void wait_for_answer(const OutputTee& output, std::uint64_t before, double end_s) {
  for (auto seen = before; monotonic_seconds() < end_s;) {
    std::this_thread::sleep_for(poll_interval);
    const auto now = std::exchange(seen, output.bytes_read());
    if (now > before && now == seen) return;
  }
}

}  // namespace

void LiveStacks::enable(pid_t process, int signal, std::shared_ptr<OutputTee> output) {
  const std::lock_guard lock(mutex_);
  process_ = process;
  signal_ = signal;
  output_ = std::move(output);
}

void LiveStacks::disable() { enable(0, 0, nullptr); }

std::string LiveStacks::collect() {
  const std::lock_guard lock(mutex_);
  if (process_ == 0 || !output_) return "";
  const double end_s = monotonic_seconds() + collect_limit_s;
  std::string text;
  int asked = 0;
  output_->drain(answer_limit_s);
  output_->show(false);
  for (const pid_t process : with_descendants(process_))
    if (catches(process, signal_) && asked++ < max_processes) text += stacks_of(process, end_s);
  output_->show(true);
  return text;
}

void LiveStacks::note_call(const std::string& place) {
  const std::lock_guard lock(call_mutex_);
  last_call_ = place;
}

std::string LiveStacks::last_call() const {
  const std::lock_guard lock(call_mutex_);
  return last_call_;
}

std::string LiveStacks::stacks_of(pid_t process, double end_s) {
  const auto before = output_->bytes_read();
  kill(process, signal_);
  wait_for_answer(*output_, before, std::min(end_s, monotonic_seconds() + answer_limit_s));
  const auto tail = output_->tail(std::max(0.0, end_s - monotonic_seconds()));
  const auto printed = std::min<std::uint64_t>(output_->bytes_read() - before, tail.size());
  if (printed == 0) return "";
  return fmt::format("process {}: {}\n{}\n{}\n", process, command_text(process), live_headline,
                     tail.substr(tail.size() - printed));
}

}  // namespace trainrt::program
