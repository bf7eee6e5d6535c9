#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/cpp/simulation.hpp"

namespace trainrt::test {

/// A simulated run and its disturbances, chosen at random.
struct Plan {
  explicit Plan(std::uint64_t seed_) : seed(seed_), dice(seed_ * 0x9e3779b97f4a7c15u + 1) {
    ranks = dice.one_in(8) ? 1 : static_cast<int>(2 + dice.below(3));
    steps = 6 + dice.below(16);
    report_every = 1 + dice.below(4);
    save_every = dice.one_in(2) ? 0 : 2 + dice.below(steps - 2);
    step_s = dice.one_in(2) ? 10 : 1e-3;
    grows = dice.one_in(4);
    has_little_memory = dice.one_in(12);
    reserve_fails_one_in = dice.one_in(4) ? 2 : 0;
    has_damage = dice.one_in(4);
    dies_early = dice.one_in(3);
    deaths = static_cast<int>(2 + dice.below(dies_early ? 12 : 6));
  }

  std::uint64_t seed;
  Dice dice;
  int ranks = 1;
  std::int64_t steps = 1;
  std::int64_t report_every = 1;
  std::int64_t save_every = 0;     ///< number of steps between checkpoints; 0: no checkpoint
  double step_s = 1;               ///< duration of a step: after a long step, each step is copied
  bool grows = false;              ///< a value of the State grows until its copy no longer fits
  bool has_little_memory = false;  ///< failure.memory is too small for copies
  int reserve_fails_one_in = 0;    ///< one of this number of reservations of memory fails; 0: none
  bool has_damage = false;         ///< bytes of copies change between attempts
  bool dies_early = false;         ///< most deaths are soon after the start of an attempt
  int deaths = 0;                  ///< maximum number of attempts in which a rank is killed
};

/// Kills ranks of one attempt.
class Killer {
 public:
  Killer(Plan& plan, bool may_kill, bool has_copied) : may_kill_(may_kill), when_(static_cast<When>(plan.dice.below(3))) {
    const std::int64_t early = 40 * plan.ranks, of_training = 12 * plan.ranks * plan.steps,
                       of_copies = 6 * plan.ranks * plan.steps;
    const bool is_early = plan.dies_early && has_copied;
    if (is_early && plan.dice.one_in(2)) when_ = When::after_begin;
    const auto count = when_ == When::in_copy       ? of_copies
                       : when_ == When::after_begin ? 10 * plan.ranks
                       : is_early                   ? early
                                                    : of_training;
    at_ = plan.dice.below(count);
    kills_all_ = plan.dice.one_in(6);
  }

  Simulation::Fate operator()(std::string_view point) {
    using Fate = Simulation::Fate;
    static const std::set<std::string_view> of_copy{"copy_unsealed", "copy_block", "seal_copy", "number_copy",
                                                    "copy_sealed"};
    has_begun_ = has_begun_ || point == "begin_from_copy";
    const bool counts = when_ == When::anywhere || (when_ == When::in_copy ? of_copy.contains(point) : has_begun_);
    if (!may_kill_ || !counts || at_-- > 0) return Fate::lives;
    may_kill_ = false;
    return kills_all_ ? Fate::all_die : Fate::dies;
  }

 private:
  /// The points at which ranks may die.
  enum class When : std::uint8_t { anywhere, in_copy, after_begin };

  bool may_kill_, has_begun_ = false, kills_all_ = false;
  When when_;
  std::int64_t at_ = 0;  // number of points until the death
};

/// Numbers of events in simulated runs.
struct SimulatedEvents {
  std::int64_t attempts = 0, from_copy = 0, from_checkpoint = 0, from_start = 0, withdrawn = 0, kills_of_all = 0,
               failed_reservations = 0, damages = 0, steps = 0;

  void operator+=(const SimulatedEvents& other) {
    attempts += other.attempts;
    from_copy += other.from_copy;
    from_checkpoint += other.from_checkpoint;
    from_start += other.from_start;
    withdrawn += other.withdrawn;
    kills_of_all += other.kills_of_all;
    failed_reservations += other.failed_reservations;
    damages += other.damages;
    steps += other.steps;
  }
  std::string text() const {
    return fmt::format(
        "{} attempts: {} from a copy, {} from a checkpoint, {} from the start; {} copies withdrawn after three attempts, "
        "{} "
        "kills of all ranks, {} failed reservations, {} damaged copies, {} protocol steps",
        attempts, from_copy, from_checkpoint, from_start, withdrawn, kills_of_all, failed_reservations, damages, steps);
  }
};

}  // namespace trainrt::test
