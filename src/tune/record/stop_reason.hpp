#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Provides the reasons why trials ended, as texts for the user. For a trial that its scheduler stopped, the journal
/// contains a different text, which depends on the version of trainrt that wrote it.
class StopReason {
 public:
  explicit StopReason(const Sweep& sweep);
  /// Returns the reason why a trial in state `state` ended after `iterations` reports: "reached max_t = 9", "stopped
  /// early by ASHA at report 1". Returns `recorded` for a trial that its scheduler did not stop.
  std::string text(Trial::State state, std::int64_t iterations, const std::string& recorded) const;

 private:
  std::string scheduler_;
  std::optional<std::int64_t> max_reports_;
};

}  // namespace trainrt::tune
