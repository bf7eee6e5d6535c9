#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace trainrt::watch {

/// The phase of a rank's training, which determines how long the rank may go without progress.
enum class Phase : int { starting, loading, training, checkpoint, finishing };

constexpr std::string_view name_of(Phase phase) {
  constexpr std::string_view names[] = {"starting", "loading", "training", "checkpoint", "finishing"};
  return names[static_cast<std::size_t>(phase)];
}

/// The progress of the train thread, for threads and signal handlers that watch it. Only the train thread may call
/// progress(), which costs a few relaxed atomic stores. snapshot() is thread-safe and async-signal-safe.
class Liveness {
 public:
  struct Snapshot {
    std::uint64_t updates = 0;           ///< number of calls of progress()
    std::uint64_t training_updates = 0;  ///< number of calls of progress() in Phase::training
    std::int64_t step = 0;
    Phase phase = Phase::starting;
  };

  void progress(std::int64_t step, Phase phase) noexcept {
    step_.store(step, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
    if (phase == Phase::training) count(training_updates_);
    count(updates_);
  }
  /// Records that the train thread has made progress, at training step `step`; the phase does not change.
  void progress(std::int64_t step) noexcept { progress(step, phase_.load(std::memory_order_relaxed)); }
  Snapshot snapshot() const noexcept {
    return {updates_.load(std::memory_order_relaxed), training_updates_.load(std::memory_order_relaxed),
            step_.load(std::memory_order_relaxed), phase_.load(std::memory_order_relaxed)};
  }

 private:
  static void count(std::atomic<std::uint64_t>& number) noexcept {
    number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t> updates_ = 0;
  std::atomic<std::uint64_t> training_updates_ = 0;
  std::atomic<std::int64_t> step_ = 0;
  std::atomic<Phase> phase_ = Phase::starting;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<Phase>::is_always_lock_free);
};

/// While this object lives, the train thread is in phase `phase`. The destructor restores the earlier phase.
class InPhase {
 public:
  InPhase(Liveness& life, Phase phase) : life_(life), before_(life.snapshot()) { life_.progress(before_.step, phase); }
  ~InPhase() { life_.progress(life_.snapshot().step, before_.phase); }
  InPhase(const InPhase&) = delete;

 private:
  Liveness& life_;
  Liveness::Snapshot before_;
};

}  // namespace trainrt::watch
