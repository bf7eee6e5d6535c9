#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainrt::watch {

/// What a rank does itself in a step, while it waits for no other rank.
enum class Work : std::size_t {
  input,     ///< waits for a batch
  forward,   ///< computes, before the step's first collective
  backward,  ///< computes, after it
  report,
  save,
};
inline constexpr std::size_t work_count = 5;

constexpr std::string_view name_of(Work work) {
  constexpr std::string_view names[] = {"input", "forward", "backward", "report", "save"};
  return names[static_cast<std::size_t>(work)];
}

/// Seconds of one step.
struct StepTime {
  std::array<float, work_count> work{};
  float waits = 0;  ///< in collectives: for other ranks, and for bytes

  float own() const;  ///< all of its work
};

/// What the steps of a window took on one rank. Plain data, which ranks send to each other.
struct WindowTimes {
  std::array<float, work_count> work{};  ///< medians over the steps; so are the next two
  float own = 0, waits = 0;
  float spread = 0;  ///< of own: the median distance from its median
  std::int32_t steps = 0;
  /// What the thread, and its node, saw in that time.
  float preempted = 0;                      ///< times a second that another process took its CPU
  float major_faults = 0;                   ///< pages that had to be read, a second
  float stolen = 0;                         ///< share of the node's CPU time that its hypervisor gave to others
  float clock_ghz = 0, full_clock_ghz = 0;  ///< of its CPU; 0: not looked at, or not known
};

/// Medians, of which a single slow step moves none. `steps` is put into another order. Pure.
WindowTimes window_of(std::span<StepTime> steps);

/// A rank that holds the others up.
struct SlowRank {
  std::size_t rank = 0;
  Work work{};       ///< in which it loses most
  double ratio = 1;  ///< its own time by that of the median rank
  double own_s = 0, median_s = 0;
};

/// The slowest rank, if it is slower than the median rank by more than a tenth, by more than its steps vary, and by more
/// than a hundredth of a step with its waits. Pure.
std::optional<SlowRank> slow_rank_in(std::span<const WindowTimes> ranks);

}  // namespace trainrt::watch
