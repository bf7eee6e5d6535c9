#include "trainer/watching/status_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/thread.hpp"
#include "core/process/wait_reason.hpp"
#include "io/files/slot_file.hpp"
#include "io/storage_error.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr double tick_s = 1;  // maximum seconds between reads of the train thread; precision of RankStatus::quiet_s

/// Returns the CPUs in `cpus` as a list such as "0-3,8". Returns "" if the list is too long for the status line of a rank.
std::string list_of(const cpu_set_t& cpus) {
  constexpr std::size_t max_bytes = 48;
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    const int first = cpu;
    while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, &cpus)) ++cpu;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (cpu > first) list += fmt::format("-{}", cpu);
  }
  return list.size() <= max_bytes ? list : std::string();
}

rundir::RankStatus initial_status(const StatusWriter::Target& target) {
  rundir::RankStatus status{.rank = target.rank, .host = target.host};
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
    status.cpus = CPU_COUNT(&cpus);
    status.cpu_list = list_of(cpus);
  }
  return status;
}

}  // namespace

/// The state of the writing thread, which exists until the thread ends. The thread reads objects of the train thread only
/// with the mutex locked, and not after `is_abandoned` was set.
struct StatusWriter::Shared {
  Shared(const Target& target, const watch::Liveness& watched, Times intervals)
      : life(watched),
        note(WaitReason::of_this_thread()),
        times(intervals),
        status(initial_status(target)),
        usage(target.started_s, target.is_first_of_node),
        file(target.path),
        is_fenced(target.is_fenced),
        begun_s(target.started_s) {}

  const watch::Liveness& life;
  const WaitReason& note;
  const Times times;
  rundir::RankStatus status;  ///< used by the writing thread only
  RankUsage usage;
  io::SlotFile file;
  const std::function<bool()> is_fenced;
  const double begun_s;
  double moved_s = monotonic_seconds();  ///< time of the last observed progress
  std::uint64_t updates = 0;
  bool is_warned = false;

  std::mutex mutex{};
  std::condition_variable changed{};
  bool ending = false;
  bool ended = false;         ///< the thread has written the last status
  bool is_abandoned = false;  ///< the train thread no longer waits for this thread

  void work();
  bool read_train_thread(double wait_s);
  void write();
};

/// Waits until the attempt ends, at most `wait_s` seconds, and then stores the state of the train thread in `status`.
/// Returns false, and reads nothing, if the train thread has stopped waiting for this thread (is_abandoned).
bool StatusWriter::Shared::read_train_thread(double wait_s) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::duration<double>(wait_s), [this] { return ending; });
  if (is_abandoned) return false;
  const auto seen = life.snapshot();
  const auto now = monotonic_seconds();
  if (std::exchange(updates, seen.updates) != seen.updates) moved_s = now;
  status.quiet_s = now - moved_s;
  status.age_s = now - begun_s;
  status.step = seen.step;
  status.phase = name_of(seen.phase);
  status.waits_in = note.text();
  status.ended = ending;
  return true;
}

void StatusWriter::Shared::work() {
  usage.set_gpus(device::nvml_meter());
  double sample_at_s = monotonic_seconds() + times.first_s, write_at_s = sample_at_s;
  while (!status.ended) {
    const auto next_s = std::min(sample_at_s, write_at_s) - monotonic_seconds();
    if (!read_train_thread(std::clamp(next_s, 0.0, tick_s))) return;
    const auto now = monotonic_seconds();
    if (now >= sample_at_s || status.ended) {
      usage.sample(status);
      if (const auto text = usage.memory_warning(); !text.empty()) log::warning(text);
      sample_at_s = now + times.sample_interval_s;
    }
    if (now < write_at_s && !status.ended) continue;
    write();
    write_at_s = now + times.write_interval_s;
  }
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

void StatusWriter::Shared::write() try {
  if (is_fenced && is_fenced()) return;
  status.time = utc_now();
  file.write(static_cast<std::uint64_t>(status.rank) * rundir::rank_status_bytes, rundir::rank_status_line(status));
} catch (const io::StorageError& error) {
  if (error.error_number() == ENOENT) return;  // the run directory of a failed new run was removed
  if (!std::exchange(is_warned, true))
    log::run_warning(fmt::format("the status and resource usage of the ranks cannot be written: {}. The training continues",
                                 with_advice(error)));
}

StatusWriter::Times StatusWriter::times_of(const Target& target) {
  constexpr double max_writes_per_s = 50;
  Times times;
  times.write_interval_s = std::max(times.sample_interval_s, target.ranks / max_writes_per_s);
  times.first_s += times.write_interval_s / 10 * target.rank / std::max(target.ranks, 1);  // ranks write at different times
  return times;
}

StatusWriter::StatusWriter(Target target, const watch::Liveness& life, Times times)
    : shared_(std::make_shared<Shared>(target, life, times)), max_wait_s_(times.max_wait_s) {
  thread_without_signals([shared = shared_] { shared->work(); }).detach();
}

StatusWriter::~StatusWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::duration<double>(max_wait_s_), [this] { return shared_->ended; });
  shared_->is_abandoned = true;
}

}  // namespace trainrt::trainer
