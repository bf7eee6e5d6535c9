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

constexpr double tick_s = 1;  // how exactly it is known since when a rank is quiet

/// "0-3,8"; "" if it has more pieces than a line has room for.
std::string list_of(const cpu_set_t& cpus) {
  constexpr std::size_t most_bytes = 48;
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    const int first = cpu;
    while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, &cpus)) ++cpu;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (cpu > first) list += fmt::format("-{}", cpu);
  }
  return list.size() <= most_bytes ? list : std::string();
}

rundir::RankStatus initial_status(const StatusWriter::Place& place) {
  rundir::RankStatus status{.rank = place.rank, .host = place.host};
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
    status.cpus = CPU_COUNT(&cpus);
    status.cpu_list = list_of(cpus);
  }
  return status;
}

}  // namespace

/// Lives as long as the thread does. What belongs to the train thread is looked at with the mutex held, and only until the
/// thread is left behind.
struct StatusWriter::Shared {
  Shared(const Place& place, const watch::Liveness& watched, Times wanted)
      : life(watched),
        note(WaitReason::of_this_thread()),
        times(wanted),
        status(initial_status(place)),
        usage(place.started_s, place.is_first_of_node),
        file(place.path),
        is_fenced(place.is_fenced),
        begun_s(place.started_s) {}

  const watch::Liveness& life;
  const WaitReason& note;
  const Times times;
  rundir::RankStatus status;  ///< the thread's
  RankUsage usage;
  io::SlotFile file;
  const std::function<bool()> is_fenced;
  const double begun_s;
  double moved_s = monotonic_seconds();  ///< when the last sign of progress was seen
  std::uint64_t updates = 0;
  bool is_warned = false;

  std::mutex mutex{};
  std::condition_variable changed{};
  bool ending = false;
  bool ended = false;  ///< the thread has written the last line
  bool left_behind = false;

  void work();
  bool look_at_train_thread(double wait_s);
  void write();
};

/// False if nobody waits for this thread any more.
bool StatusWriter::Shared::look_at_train_thread(double wait_s) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::duration<double>(wait_s), [this] { return ending; });
  if (left_behind) return false;
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
  usage.take_gpus(device::nvml_meter());
  double look_at_s = monotonic_seconds() + times.first_s, write_at_s = look_at_s;
  while (!status.ended) {
    const auto next_s = std::min(look_at_s, write_at_s) - monotonic_seconds();
    if (!look_at_train_thread(std::clamp(next_s, 0.0, tick_s))) return;
    const auto now = monotonic_seconds();
    if (now >= look_at_s || status.ended) {
      usage.look(status);
      if (const auto words = usage.memory_warning(); !words.empty()) log::warning(words);
      look_at_s = now + times.between_looks_s;
    }
    if (now < write_at_s && !status.ended) continue;
    write();
    write_at_s = now + times.between_writes_s;
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
  if (error.error_number() == ENOENT) return;  // an attempt that leaves nothing has taken the folder away
  if (!std::exchange(is_warned, true))
    log::run_warning(fmt::format("what the ranks are at and use is not written down: {}. The training goes on without",
                                 with_advice(error)));
}

StatusWriter::Times StatusWriter::times_of(const Place& place) {
  constexpr double ranks_a_second = 50;
  Times times;
  times.between_writes_s = std::max(times.between_looks_s, place.ranks / ranks_a_second);
  times.first_s += times.between_writes_s / 10 * place.rank / std::max(place.ranks, 1);  // not all at once
  return times;
}

StatusWriter::StatusWriter(Place place, const watch::Liveness& life, Times times)
    : shared_(std::make_shared<Shared>(place, life, times)), most_wait_s_(times.most_wait_s) {
  thread_without_signals([shared = shared_] { shared->work(); }).detach();
}

StatusWriter::~StatusWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::duration<double>(most_wait_s_), [this] { return shared_->ended; });
  shared_->left_behind = true;
}

}  // namespace trainrt::trainer
