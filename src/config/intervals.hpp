#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::config {

// Values of keys that are more than a number. form() says in words which texts are valid, parse() gives nullopt for others.

/// "auto | N s | off" of the config.
struct LimitOption {
  enum class Kind { automatic, seconds, off };
  Kind kind = Kind::automatic;
  double seconds = 0;
  std::string key = {};  ///< what the config calls it, for messages

  static std::string form();
  static std::optional<LimitOption> parse(std::string_view text);
};

/// When a checkpoint is due, besides at a stop and at the end: "3 reports", "500 steps", "600 s", "auto", "off".
/// `automatic` is AutoInterval's business.
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

/// "500 steps", or "off".
struct StepInterval {
  std::int64_t steps = 0;  ///< 0: off

  static std::string form();
  static std::optional<StepInterval> parse(std::string_view text);
};

}  // namespace trainrt::config
