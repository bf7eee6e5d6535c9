#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

  float& of(Work kind) { return work[static_cast<std::size_t>(kind)]; }
  float of(Work kind) const { return work[static_cast<std::size_t>(kind)]; }
  float steady() const { return of(Work::input) + of(Work::forward) + of(Work::backward); }
};

/// What may slow a rank down, as its node knows it; 0: it does not, or nobody has looked.
struct NodeFacts {
  float preempted = 0;                      ///< times a second that another process took the thread's CPU
  float major_faults = 0;                   ///< pages that had to be read for the thread, a second
  float stolen = 0;                         ///< share of the node's CPU time that its hypervisor gave to others
  float swapped = 0;                        ///< pages that the node took from its swap, a second
  float clock_ghz = 0, full_clock_ghz = 0;  ///< of the thread's CPU
  float throttled = 0;                      ///< times that CPU was slowed down because it was hot
  float celsius = 0;                        ///< of the hottest sensor of the node
  float remote_memory = 0;                  ///< share of the process's memory that lies on another NUMA node
  float other_share = 0;                    ///< of a CPU, that the other process took which took most of the thread's CPU
  std::array<char, 16> other{};             ///< its name, ended by a zero
};

/// "; clock 1.2 GHz of 3.1; ...": those that explain a slow rank; "" if none does. Pure.
std::string reasons_in(const NodeFacts& facts);

/// What the steps of a window took on one rank, in seconds. Plain data, which ranks send to each other.
struct WindowTimes {
  std::array<float, work_count> work{};  ///< medians over the steps; of reports and saves, which most steps lack, the
                                         ///< median one's share of a step
  float own = 0;                         ///< all but the reports, of which rank 0 writes the files
  float waits = 0;                       ///< median
  float spread = 0;                      ///< of the steps' own times: the median distance from their median
  std::int32_t steps = 0;
  NodeFacts facts;

  float of(Work kind) const { return work[static_cast<std::size_t>(kind)]; }
};

/// Makes windows of steps. Medians throughout: a single slow step moves none. It remembers how long the last reports and
/// saves took, of which a window may have none.
class WindowMaker {
 public:
  /// `steps` are put into another order.
  WindowTimes window_of(std::span<StepTime> steps);

 private:
  struct Rare {
    std::vector<float> seconds;  ///< since the last time there were enough
    std::size_t steps = 0;
    float share = 0;  ///< of a step
  };
  static void take(Rare& rare, std::span<const StepTime> steps, Work work);
  Rare reports_, saves_;
};

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
