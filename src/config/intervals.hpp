#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::config {

// Types of config values that are more than a number. form() returns a description of the valid texts; parse() returns
// nullopt for an invalid text.

/// A config value that is a time limit: "auto", "off", or "N s".
struct LimitOption {
  enum class Kind { automatic, seconds, off };
  Kind kind = Kind::automatic;
  double seconds = 0;
  std::string key = {};  ///< name of the config key, for messages

  static std::string form();
  static std::optional<LimitOption> parse(std::string_view text);
};

/// A config value that is the interval between checkpoints: "3 reports", "500 steps", "600 s", "auto" or "off". The
/// functions due_...() return whether a checkpoint is due; each returns false if the interval has another unit. Class
/// AutoInterval implements "auto".
struct CheckpointInterval {
  enum class Unit { off, reports, steps, seconds, automatic };
  Unit unit = Unit::reports;
  double count = 1;

  static std::string form();
  static std::optional<CheckpointInterval> parse(std::string_view text);
  bool due_at_report(std::int64_t iteration) const;
  bool due_at_step(std::int64_t step) const;
  bool due_after(double seconds_since_last) const;
};

/// A config value that is an interval in training steps: "500 steps", or "off".
struct StepInterval {
  std::int64_t steps = 0;  ///< number of training steps; 0: the interval is off

  static std::string form();
  static std::optional<StepInterval> parse(std::string_view text);
};

}  // namespace trainrt::config
