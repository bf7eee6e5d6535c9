#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// The reasons for the ends of trials that are shown to the user. The journal contains other words for a trial that its
/// scheduler stopped; they depend on the version that wrote it.
class StopReason {
 public:
  explicit StopReason(const Sweep& sweep);
  /// Returns the reason of a trial in this state that ended after `iterations` reports: "reached max_t = 9", "stopped early
  /// by ASHA at report 1", or for a trial that its scheduler did not stop `recorded`.
  std::string text(Trial::State state, std::int64_t iterations, const std::string& recorded) const;

 private:
  std::string scheduler_;
  std::optional<std::int64_t> max_reports_;
};

}  // namespace trainrt::tune
