#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault_hook.hpp"
#include "support/cpp/turns.hpp"

namespace trainrt::test {

/// Thrown at the point at which a simulated rank is killed. Not a std::exception, so that no code under test handles it.
struct SimulatedKill {};

/// Random numbers that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  /// Returns a number from 0 to `count` - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }
  bool one_in(std::int64_t count) { return below(count) == 0; }

 private:
  std::mt19937_64 random_;
};

/// Runs simulated ranks, one at a time, in an order that depends only on the Dice. A rank passes its
/// turn to another rank only in step() and wait_until(). Each fault_point() of a rank is a step.
///
/// A killed rank is ended by an exception at its next step: its destructors run, but it takes no further step. Some steps
/// after the death of a rank, and if the other ranks can only wait for it, all ranks are killed, as the process that
/// started them would do.
class Simulation {
 public:
  enum class Fate : std::uint8_t { lives, dies, all_die };
  /// Returns what happens to rank `rank` when it reaches the step `point`.
  using Choose = std::function<Fate(int rank, std::string_view point)>;

  Simulation(int ranks, Dice& dice, Choose choose)
      : ranks_(static_cast<std::size_t>(ranks)), dice_(dice), choose_(std::move(choose)) {}
  Simulation(const Simulation&) = delete;

  /// Runs `main` on each rank until all have returned or were killed. Returns the first error: an exception, a wait that
  /// cannot end, or too many steps; "" if there is none.
  std::string run(const std::function<void(int)>& main) {
    set_fault_hook([](std::string_view point) {
      if (self() != nullptr) self()->step(point);
    });
    turns_.emplace(size(), [&](int rank) { run_rank(rank, main); });
    turns_->run(static_cast<int>(dice_.below(size())));
    turns_.reset();
    set_fault_hook(nullptr);
    self() = nullptr;
    return error_;
  }

  int size() const { return static_cast<int>(ranks_.size()); }
  bool has_killed() const { return has_killed_; }
  std::int64_t steps() const { return steps_; }

  /// The simulated time in seconds. Each step takes a microsecond.
  double now_s() const { return now_s_; }
  void pass_time(double seconds) { now_s_ += seconds; }
  /// The simulation of the calling thread; nullptr if it is no simulated rank.
  static Simulation*& self() {
    thread_local Simulation* simulation = nullptr;
    return simulation;
  }

  // --- functions that only the ranks call ---

  void step(std::string_view point) {
    if (is_ending()) return;
    begin_step();
    if (!is_quiet_) obey(choose_(current_, point));
    if (!is_quiet_ && dice_.one_in(20)) me().not_before = steps_ + dice_.below(200);
    if (is_quiet_ || dice_.one_in(4)) pass_turn();
  }
  /// Waits until `condition`, which depends on what other ranks do, is true.
  void wait_until(const std::function<bool()>& condition) {
    if (is_ending()) return;
    me().condition = &condition;
    while (!condition()) {
      begin_step();
      pass_turn();
    }
    me().condition = nullptr;
  }
  /// Calls `work` on all ranks. Ranks are not killed meanwhile, and take turns, so `work` may take any number of steps.
  void run_quietly(const std::function<void()>& work) {
    ++entered_;
    wait_until([this] { return entered_ == size(); });
    is_quiet_ = true;
    work();
    ++left_;
    if (current_ != 0) return wait_until([this] { return !is_quiet_; });
    wait_until([this] { return left_ == size(); });
    entered_ = left_ = 0;
    is_quiet_ = false;
  }

 private:
  struct Rank {
    const std::function<bool()>* condition = nullptr;  // of wait_until()
    std::int64_t not_before = 0;                       // step before which the rank is delayed
    bool is_killed = false;
    bool is_done = false;
  };
  static constexpr std::int64_t max_steps = 200'000;

  Rank& me() { return ranks_[static_cast<std::size_t>(current_)]; }

  /// Returns whether this rank was killed and its stack is being unwound. Throws SimulatedKill if unwinding has not begun.
  bool is_ending() {
    if (!me().is_killed) return false;
    if (std::uncaught_exceptions() == 0) throw SimulatedKill();
    return true;
  }
  void run_rank(int rank, const std::function<void(int)>& main) {
    current_ = rank;
    self() = this;
    try {
      if (!me().is_killed) main(rank);
    } catch (const SimulatedKill&) {
    } catch (const std::exception& error) {
      fail(error.what());
    }
    me().is_done = true;
    me().condition = nullptr;
    turns_->leave(rank, next_rank());
  }
  void begin_step() {
    if (is_quiet_) return;
    now_s_ += 1e-6;
    if (++steps_ == max_steps) fail("the ranks take too many steps");
    if (steps_ >= kill_rest_at_) kill_all();
    static_cast<void>(is_ending());
  }
  void obey(Fate fate) {
    if (fate == Fate::lives) return;
    if (fate == Fate::all_die) kill_all();
    has_killed_ = me().is_killed = true;
    if (kill_rest_at_ == never) kill_rest_at_ = steps_ + dice_.below(100);
    throw SimulatedKill();
  }
  void kill_all() {
    has_killed_ = true;
    for (auto& rank : ranks_) rank.is_killed = true;
  }
  void fail(const std::string& error) {
    if (error_.empty()) error_ = error;
    kill_all();
  }
  void pass_turn() {
    const int before = current_, next = next_rank();
    if (next != before) {
      turns_->pass(before, next);
      current_ = before;
    }
    static_cast<void>(is_ending());
  }
  bool can_run(const Rank& rank) const {
    return !rank.is_done && (rank.is_killed || rank.condition == nullptr || (*rank.condition)());
  }
  /// Returns the rank whose turn is next; -1 if all are done.
  int next_rank() {
    for (;;) {
      std::vector<int> able, ready;
      bool is_done = true;
      for (int i = 1; i <= size(); ++i) {
        const int index = (current_ + i) % size();
        const auto& rank = ranks_[static_cast<std::size_t>(index)];
        is_done = is_done && rank.is_done;
        if (can_run(rank)) able.push_back(index);
        if (can_run(rank) && rank.not_before <= steps_) ready.push_back(index);
      }
      if (is_done) return -1;
      if (able.empty()) {
        if (!has_killed_) fail("all ranks wait");
        kill_all();
      } else if (is_quiet_) {
        return able.front();
      } else {
        const auto& from = ready.empty() ? able : ready;
        return from[static_cast<std::size_t>(dice_.below(static_cast<std::int64_t>(from.size())))];
      }
    }
  }

  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<Rank> ranks_;
  Dice& dice_;
  Choose choose_;
  std::optional<Turns> turns_;
  int current_ = 0;
  std::int64_t steps_ = 0, kill_rest_at_ = never;
  double now_s_ = 0;
  int entered_ = 0, left_ = 0;
  bool is_quiet_ = false, has_killed_ = false;
  std::string error_;
};

}  // namespace trainrt::test
