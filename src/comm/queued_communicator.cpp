#include "comm/queued_communicator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "comm/reduce.hpp"
#include "core/host.hpp"
#include "core/mistake.hpp"
#include "core/process/wait_reason.hpp"

namespace trainrt::comm {

namespace {

void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Decides how a waiting thread spends its time. A wait first spins, because the other ranks usually arrive within
/// microseconds, and then yields the core, because ranks may share cores. After `yielding_seconds` the wait counts as long,
/// and the caller sleeps instead. Time in which this process did not run (SIGSTOP, a suspended job) is not counted: the
/// other ranks were probably stopped as well, and must not be reported as missing.
class Backoff {
 public:
  bool is_long() { return rounds_ > spins && waited() > yielding_seconds; }
  /// Returns the time waited so far, in seconds. At most `max_counted_s` seconds are counted between two calls, so the
  /// function must be called often.
  double waited() {
    const double now = monotonic_seconds();
    waited_ += std::min(now - std::exchange(last_, now), max_counted_s);
    return waited_;
  }
  void wait_a_little() {
    if (++rounds_ < eager_spins) return;
    if (rounds_ < spins) return pause_a_moment();
    if (rounds_ == spins) last_ = monotonic_seconds();
    sched_yield();
  }

 private:
  static constexpr int eager_spins = 100;
  static constexpr int spins = 500;
  static constexpr double yielding_seconds = 0.0005;
  static constexpr double max_counted_s = 2;  // maximum time counted between two calls of waited(); far longer than a sleep
  double last_ = 0;
  double waited_ = 0;
  int rounds_ = 0;
};

}  // namespace

std::string described(const Collective& collective) {
  if (collective.name.empty()) return std::string(name_of(collective.kind));
  return fmt::format("{} of '{}'", name_of(collective.kind), collective.name);
}

std::string call_text(Collective::Kind kind, std::uint64_t count, DType dtype, Op op, int root) {
  using Kind = Collective::Kind;
  if (kind == Kind::barrier) return "barrier";
  auto text = fmt::format("{} of {} {}", name_of(kind), count, name_of(dtype));
  if (kind == Kind::all_reduce || kind == Kind::reduce_scatter) text += fmt::format(" ({})", name_of(op));
  if (kind == Kind::broadcast) text += fmt::format(" from rank {}", root);
  return text;
}

void require_valid(const Collective& collective, int rank, int size) {
  using Kind = Collective::Kind;
  const auto wrong = [&](const std::string& why) { throw UsageError(described(collective) + ": " + why); };
  if (collective.kind == Kind::all_reduce || collective.kind == Kind::reduce_scatter)
    accumulator_of(collective.buffer.dtype);
  if (collective.kind == Kind::broadcast && (collective.root < 0 || collective.root >= size))
    wrong(fmt::format("rank {} is not a valid root; there are {} ranks", collective.root, size));
  if (collective.kind != Kind::reduce_scatter && collective.kind != Kind::all_gather) return;
  if (collective.counts.size() != static_cast<std::size_t>(size))
    wrong(fmt::format("got {} counts for {} ranks", collective.counts.size(), size));
  const auto total = std::accumulate(collective.counts.begin(), collective.counts.end(), std::size_t{0});
  if (total != collective.buffer.count)
    wrong(fmt::format("the ranks' parts have {} elements in total, but the buffer has {}", total, collective.buffer.count));
  if (collective.part == nullptr && collective.counts[static_cast<std::size_t>(rank)] > 0)
    wrong("this rank's part is null");
}

QueuedCommunicator::Ticket QueuedCommunicator::start(const Collective& collective) {
  require_usable();
  require_valid(collective, rank(), size());
  if (collective.buffer.device != Device::host)
    throw UsageError(fmt::format("{}: the backend '{}' cannot reach memory on {}", described(collective), name(),
                                 name_of(collective.buffer.device)));
  advance();
  auto task = make_task(collective);
  if (queue_.empty()) task.set_first_in_queue();
  ++started_;
  run(task);
  if (queue_.empty() && task.done())
    ++completed_;
  else
    queue_.push_back({std::move(task), collective});
  return started_;
}

bool QueuedCommunicator::test(Ticket ticket) {
  require_usable();
  advance();
  return completed_ >= ticket;
}

void QueuedCommunicator::wait(Ticket ticket) {
  require_usable();
  while (completed_ < std::min(ticket, started_)) {
    if (advance_front()) continue;
    auto& front = queue_.front();
    if (!front.task.awaited()->ready()) wait_with_limit(*front.task.awaited(), described(front.collective));
  }
}

void QueuedCommunicator::wait_for(Awaited& awaited, std::string_view what) {
  require_usable();
  if (!awaited.ready()) wait_with_limit(awaited, std::string(what));
}

void QueuedCommunicator::wait_with_limit(Awaited& awaited, const std::string& what) {
  constexpr double report_after_s = 0.5;
  Backoff wait;
  ReportedWait waiting;
  while (!awaited.ready()) {
    if (!wait.is_long()) {
      wait.wait_a_little();
      continue;
    }
    if (!waiting.is_reported() && wait.waited() > report_after_s)
      waiting.report(fmt::format("{} at step {}{}", what, step_, awaited.missing_if_known()));
    // A rank may join the collective and then exit, so the condition is checked again after the exit was detected.
    if (const auto why = awaited.failure(); !why.empty() && !awaited.ready()) give_up(what, why);
    if (wait.waited() > timeout_seconds_) give_up_overdue(what, awaited.missing());
    awaited.sleep(std::clamp(timeout_seconds_ - wait.waited(), 0.001, on_long_wait(wait.waited())));
  }
}

void QueuedCommunicator::drain() { wait(started_); }

void QueuedCommunicator::advance() {
  while (advance_front()) {
  }
}

/// Runs the oldest collective until its next wait, and removes it from the queue if it is complete. Returns false if the
/// queue is empty or the collective must still wait.
bool QueuedCommunicator::advance_front() {
  if (queue_.empty()) return false;
  auto& task = queue_.front().task;
  if (!task.done()) {
    task.set_first_in_queue();
    if (!task.awaited()->ready()) return false;
    run(task);
    if (!task.done()) return true;
  }
  queue_.pop_front();
  ++completed_;
  return true;
}

void QueuedCommunicator::require_usable() const {
  if (!is_broken()) return;
  const auto text = "this communicator can no longer be used: " + broken_;
  if (mistake_kind_.empty()) throw Error(text);
  throw MistakeError(text, mistake_kind_);
}

void QueuedCommunicator::run(CollectiveTask& task) {
  try {
    task.resume();
  } catch (const MistakeError& error) {
    broken_ = error.what();
    mistake_kind_ = error.mistake.kind;
    throw;
  } catch (const std::exception& error) {
    broken_ = error.what();
    throw;
  }
}

void QueuedCommunicator::give_up(const std::string& what, const std::string& why) {
  note_broken(what, why);
  throw RankGone(broken_);
}

void QueuedCommunicator::give_up_overdue(const std::string& what, const std::string& missing) {
  note_broken(what, fmt::format("waited {} s for {}", timeout_seconds_, missing));
  throw CollectiveTimeout(broken_);
}

void QueuedCommunicator::note_broken(const std::string& what, const std::string& why) {
  broken_ = fmt::format("{} on rank {} ({}) at step {}: {}", what, rank(), host_name(), step_, why);
}

}  // namespace trainrt::comm
