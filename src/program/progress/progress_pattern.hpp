#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::program {

/// Numbers that a ProgressPattern has found in a line of output, with the names of their groups, in the order of the
/// groups.
using ProgressNumbers = std::vector<std::pair<std::string, double>>;

/// A regular expression that finds a program's progress and metrics in a line of its output. The syntax is ECMAScript
/// without back references, with named groups: (?<step>\d+), or (?P<step>\d+) as in Python. The position is the number in
/// the group step. If this group is missing, it is the number in the group iteration, or else in the group epoch. Every
/// other group is a metric.
class ProgressPattern {
 public:
  /// Throws UsageError if `text` is not a valid pattern.
  explicit ProgressPattern(const std::string& text);

  /// Returns the name of the group that contains the position: "step", "iteration" or "epoch".
  const std::string& position() const { return position_; }

  /// Returns the numbers of the first match in `line`, without groups that matched nothing. Returns nothing if the line
  /// does not match. Throws UsageError if a group matched a text that is not a number, or if the position is not a
  /// non-negative integer (an epoch may have a fraction). Throws Error if the match needs too much memory.
  std::optional<ProgressNumbers> find(std::string_view line) const;

 private:
  struct Compiled;
  double number_of(const std::string& name, const std::string& text) const;

  std::shared_ptr<const Compiled> compiled_;
  std::vector<std::string> names_;
  std::string position_;
};

}  // namespace trainrt::program
