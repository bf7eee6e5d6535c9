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

/// Kinds of work that a rank does in a training step without waiting for other ranks.
enum class Work : std::size_t {
  input,     ///< waiting for the next batch of data
  forward,   ///< computation before the first collective of the training step
  backward,  ///< computation after the first collective of the step
  report,
  save,
};
inline constexpr std::size_t work_count = 5;

constexpr std::string_view name_of(Work work) {
  constexpr std::string_view names[] = {"input", "forward", "backward", "report", "save"};
  return names[static_cast<std::size_t>(work)];
}

/// Duration of one training step on one rank, in seconds, by kind of work.
struct StepTime {
  std::array<float, work_count> work{};
  float waits = 0;  ///< seconds in collectives: waiting for other ranks, and for the transfer of bytes

  float& of(Work kind) { return work[static_cast<std::size_t>(kind)]; }
  float of(Work kind) const { return work[static_cast<std::size_t>(kind)]; }
  float steady() const { return of(Work::input) + of(Work::forward) + of(Work::backward); }
  float total() const { return steady() + of(Work::report) + of(Work::save) + waits; }
};

/// Conditions of a node that may slow a rank down. The value 0 means that a condition is absent or was not measured.
struct NodeFacts {
  float preempted = 0;     ///< number of times per second that another process took the thread's CPU
  float major_faults = 0;  ///< memory pages per second that were read from disk for the thread (major page faults)
  float stolen = 0;        ///< share of the node's CPU time that the hypervisor gave to other virtual machines
  float swapped = 0;       ///< memory pages per second that the node read from its swap
  float clock_ghz = 0, full_clock_ghz = 0;  ///< current and maximum clock rate of the thread's CPU
  float throttled = 0;           ///< number of times that the thread's CPU was slowed down because of its temperature
  float celsius = 0;             ///< temperature of the hottest sensor of the node
  float remote_memory = 0;       ///< share of the process's memory that is on another NUMA node
  float other_share = 0;         ///< share of the thread's CPU that the busiest other process used
  std::array<char, 16> other{};  ///< name of the busiest other process, null-terminated
};

/// Returns the node conditions that may explain why a rank is slow, as text such as "; clock 1.2 GHz of 3.1; ...", or "".
/// Pure function.
std::string reasons_in(const NodeFacts& facts);

/// Summary of consecutive training steps (a window) on one rank, in seconds. Plain data, which the ranks exchange.
struct WindowTimes {
  /// Seconds per step for each kind of work: the median over the steps. Most steps have no report or save. The value for
  /// reports is therefore the median duration of a report times the number of reports per step; likewise for saves.
  std::array<float, work_count> work{};
  float own = 0;     ///< seconds of own work per step: all work except reports, for which rank 0 alone writes files
  float waits = 0;   ///< median seconds per step in collectives
  float mean = 0;    ///< mean seconds from one step to the next, with reports, saves and waits
  float spread = 0;  ///< median absolute deviation of the steps' own times, in seconds
  std::int32_t steps = 0;
  NodeFacts facts;

  float of(Work kind) const { return work[static_cast<std::size_t>(kind)]; }
};

/// Summarizes windows of training steps by medians, which a single slow step does not change. Keeps the times of the last
/// reports and saves between windows, because a window may contain no report or save.
class WindowMaker {
 public:
  /// Returns the summary of the window that consists of the steps in `steps`. Changes the order of `steps`.
  WindowTimes window_of(std::span<StepTime> steps);

 private:
  struct Rare {
    std::vector<float> seconds;  ///< durations of the reports or saves since `share` was last computed
    std::size_t steps = 0;
    float share = 0;  ///< seconds of this kind of work per step
  };
  static void take(Rare& rare, std::span<const StepTime> steps, Work work);
  Rare reports_, saves_;
};

/// A rank that slows the other ranks down, and the kind of work in which it is slow.
struct SlowRank {
  std::size_t rank = 0;
  Work work{};       ///< kind of work in which the rank loses most time
  double ratio = 1;  ///< the rank's own time per step divided by the own time of the median rank
  double own_s = 0, median_s = 0;
};

/// Returns the rank that slows the others down, or nullopt if no rank is clearly slow. `ranks` has one summary per rank.
/// The own time of a slow rank exceeds that of the median rank by more than each of these limits:
/// - a tenth of the median rank's own time
/// - the variation of the slow rank's steps
/// - a fiftieth of the time from one step to the next
/// - 0.5 ms per step
///
/// Rank 0 is never reported for its saves, since it commits the checkpoints of all ranks. Pure function.
std::optional<SlowRank> slow_rank_in(std::span<const WindowTimes> ranks);

}  // namespace trainrt::watch
