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

/// Kinds of work that a rank does itself in a step, without waiting for other ranks.
enum class Work : std::size_t {
  input,     ///< waiting for a batch
  forward,   ///< computation before the first collective of the step
  backward,  ///< computation after it
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

/// Conditions of a node that may slow a rank down; 0: absent or not measured.
struct NodeFacts {
  float preempted = 0;                      ///< times per second that another process took the thread's CPU
  float major_faults = 0;                   ///< pages per second that were read from disk for the thread
  float stolen = 0;                         ///< share of the node's CPU time that its hypervisor gave to others
  float swapped = 0;                        ///< pages per second that the node read from its swap
  float clock_ghz = 0, full_clock_ghz = 0;  ///< of the thread's CPU
  float throttled = 0;                      ///< times that this CPU was slowed down because of its temperature
  float celsius = 0;                        ///< of the hottest sensor of the node
  float remote_memory = 0;                  ///< share of the process's memory on another NUMA node
  float other_share = 0;                    ///< share of the CPU that the busiest other process on it took
  std::array<char, 16> other{};             ///< name of that process, null-terminated
};

/// Returns the conditions that explain a slow rank, such as "; clock 1.2 GHz of 3.1; ...", or "". Pure function.
std::string reasons_in(const NodeFacts& facts);

/// Times of a window of steps on one rank, in seconds. Plain data that ranks exchange.
struct WindowTimes {
  std::array<float, work_count> work{};  ///< medians over the steps. Reports and saves, which most steps lack: the time of
                                         ///< the median one as a share of a step
  float own = 0;                         ///< all work except reports, for which rank 0 writes files
  float waits = 0;                       ///< median
  float spread = 0;                      ///< median distance of the steps' own times from their median
  std::int32_t steps = 0;
  NodeFacts facts;

  float of(Work kind) const { return work[static_cast<std::size_t>(kind)]; }
};

/// Summarizes windows of steps by medians, which a single slow step does not change. Stores the times of the last reports
/// and saves, because a window may lack both.
class WindowMaker {
 public:
  /// Reorders `steps`.
  WindowTimes window_of(std::span<StepTime> steps);

 private:
  struct Rare {
    std::vector<float> seconds;  ///< since `share` was last computed
    std::size_t steps = 0;
    float share = 0;  ///< of a step
  };
  static void take(Rare& rare, std::span<const StepTime> steps, Work work);
  Rare reports_, saves_;
};

/// A rank that slows the others down.
struct SlowRank {
  std::size_t rank = 0;
  Work work{};       ///< in which it loses most time
  double ratio = 1;  ///< its own time divided by that of the median rank
  double own_s = 0, median_s = 0;
};

/// Returns the slowest rank if its own time exceeds that of the median rank by more than a tenth, by more than the
/// variation of its steps, and by more than a hundredth of a step including waits; else nullopt. Pure function.
std::optional<SlowRank> slow_rank_in(std::span<const WindowTimes> ranks);

}  // namespace trainrt::watch
