#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::view {

/// The times of consecutive steps of an attempt, read from a line of a file such as logs/steps-attempt-000003.jsonl.
struct StepWindow {
  /// A rank that delayed the other ranks.
  struct Slow {
    std::size_t rank = 0;
    std::string work;  ///< kind of work: input, forward, backward, ...
    double ratio = 0;  ///< ratio of the rank's time to the time of the median rank
    std::string why;   ///< reason; "" if unknown
  };
  int attempt = 0;
  std::string time;                       ///< UTC; "" if unknown
  std::int64_t step = 0;                  ///< number of the last step in the window
  double steps = 1;                       ///< number of steps in the window
  std::vector<float> own_us;              ///< by rank: median time per step without waiting for other ranks
  std::vector<float> waits_us;            ///< by rank: time in collectives; empty if unknown
  std::map<std::string, double> work_us;  ///< by kind of work: median over the ranks
  std::optional<Slow> slow;               ///< nullopt if no rank delayed the other ranks
};

/// Parses a line of a file of step times. Returns nullopt if the line is incomplete or does not describe a window.
/// Invalid times become NaN. Pure function.
std::optional<StepWindow> step_window_from(std::string_view line, int attempt);

}  // namespace trainrt::view
