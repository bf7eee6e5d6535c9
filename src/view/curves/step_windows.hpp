#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::view {

/// Times of consecutive steps of an attempt: a line of logs/steps-attempt-000003.jsonl.
struct StepWindow {
  /// A rank that delayed the others.
  struct Slow {
    std::size_t rank = 0;
    std::string work;  ///< input, forward, backward, ...
    double ratio = 0;  ///< of its time to that of the median rank
    std::string why;   ///< reason; "" if unknown
  };
  int attempt = 0;
  std::string time;                       ///< UTC; "" if unknown
  std::int64_t step = 0;                  ///< the last step
  double steps = 1;                       ///< number of steps
  std::vector<float> own_us;              ///< by rank: median time per step without waiting for others
  std::vector<float> waits_us;            ///< by rank: time in collectives; empty if unknown
  std::map<std::string, double> work_us;  ///< by kind of work: median over the ranks
  std::optional<Slow> slow;               ///< nullopt if no rank delayed the others
};

/// Parses a line; returns nullopt if it is incomplete or of another kind. Invalid times become NaN. Pure function.
std::optional<StepWindow> step_window_from(std::string_view line, int attempt);

}  // namespace trainrt::view
