#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::view {

/// What some consecutive steps of an attempt took: a line of logs/steps-attempt-000003.jsonl.
struct StepWindow {
  struct Slow {
    std::size_t rank = 0;
    std::string work;  ///< input, forward, backward, ...
    double ratio = 0;  ///< of its time to the median rank's
    std::string why;   ///< "" if it is not known
  };
  int attempt = 0;
  std::string time;                       ///< UTC; "" if it is not known
  std::int64_t step = 0;                  ///< the last of them
  double steps = 1;                       ///< how many they are
  std::vector<float> own_us;              ///< of each rank: what it did itself in a step, the median over the steps
  std::vector<float> waits_us;            ///< of each rank: its time in collectives; empty if it is not known
  std::map<std::string, double> work_us;  ///< median over the ranks, of each kind of work
  std::optional<Slow> slow;               ///< the rank that held the others up, if one did
};

/// nullopt if the line is none of such a file: torn, or of another kind. Pure.
std::optional<StepWindow> step_window_from(std::string_view line, int attempt);

}  // namespace trainrt::view
