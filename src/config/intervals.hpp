#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/options.hpp"

namespace trainrt::config {

/// "auto | N s | off" of the config.
struct LimitOption {
  enum class Kind { automatic, seconds, off };
  Kind kind = Kind::automatic;
  double seconds = 0;
  std::string key = {};  ///< what the config calls it, for messages
};

/// "auto", "90 s" or "off", of that key. Throws UsageError with the place.
LimitOption parse_limit(const Options& options, std::string_view key);

/// When a checkpoint is due, besides at a stop and at the end. `automatic` is AutoInterval's business.
struct CheckpointInterval {
  enum class Unit { off, reports, steps, seconds, automatic };
  Unit unit = Unit::reports;
  double count = 1;

  bool due_at_report(std::int64_t iteration) const;
  bool due_at_step(std::int64_t step) const;
  bool due_after(double seconds_since_last) const;
};

/// "3 reports", "500 steps", "600 s", "auto", "off". Throws UsageError with the place.
CheckpointInterval parse_checkpoint_interval(const OptionValue& value);

/// "500 steps" as 500, "off" as 0. Throws UsageError with the place, which names the key.
std::int64_t parse_steps(const OptionValue& value, std::string_view key);

}  // namespace trainrt::config
