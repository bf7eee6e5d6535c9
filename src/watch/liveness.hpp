#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace trainrt::watch {

/// What a rank is at, as far as it matters for how long that may take.
enum class Phase : int { starting, loading, training, checkpoint, finishing };

constexpr std::string_view name_of(Phase phase) {
  constexpr std::string_view names[] = {"starting", "loading", "training", "checkpoint", "finishing"};
  return names[static_cast<std::size_t>(phase)];
}

/// Signs of life of a train thread, for threads and signal handlers that watch it. Only the train thread calls progress(),
/// which costs plain stores.
class LifeSigns {
 public:
  struct Seen {
    std::uint64_t signs = 0;           ///< how many there were
    std::uint64_t training_signs = 0;  ///< of them in training
    std::int64_t step = 0;
    Phase phase = Phase::starting;
  };

  void progress(std::int64_t step, Phase phase) noexcept {
    step_.store(step, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
    if (phase == Phase::training) count(training_signs_);
    count(signs_);
  }
  /// At the same as before.
  void progress(std::int64_t step) noexcept { progress(step, phase_.load(std::memory_order_relaxed)); }
  Seen seen() const noexcept {
    return {signs_.load(std::memory_order_relaxed), training_signs_.load(std::memory_order_relaxed),
            step_.load(std::memory_order_relaxed), phase_.load(std::memory_order_relaxed)};
  }

 private:
  static void count(std::atomic<std::uint64_t>& number) noexcept {
    number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t> signs_ = 0;
  std::atomic<std::uint64_t> training_signs_ = 0;
  std::atomic<std::int64_t> step_ = 0;
  std::atomic<Phase> phase_ = Phase::starting;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<Phase>::is_always_lock_free);
};

/// While it lives the train thread is at something that may take long for good reasons; then again at what it was before.
class InPhase {
 public:
  InPhase(LifeSigns& life, Phase phase) : life_(life), before_(life.seen()) { life_.progress(before_.step, phase); }
  ~InPhase() { life_.progress(life_.seen().step, before_.phase); }
  InPhase(const InPhase&) = delete;

 private:
  LifeSigns& life_;
  LifeSigns::Seen before_;
};

}  // namespace trainrt::watch
