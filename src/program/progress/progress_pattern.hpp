#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::program {

/// The numbers that a line of output shows, by name, in the order of the groups.
using SeenNumbers = std::vector<std::pair<std::string, double>>;

/// Finds how far a program is, and its metrics, in a line of its output: a regular expression as ECMAScript has them,
/// without back references, with named groups, (?<step>\d+) or as Python writes them (?P<step>\d+). The group step, else
/// iteration, else epoch, says how far the program is; every other name is a metric.
class ProgressPattern {
 public:
  /// UsageError says what is wrong with the text.
  explicit ProgressPattern(const std::string& text);

  /// The name of the group that says how far the program is.
  const std::string& position() const { return position_; }

  /// The numbers of the first match in the line; groups that matched nothing are left out. Nothing if the line does not
  /// match. UsageError if a group matched what is no number, or the position is none (a whole number, of epochs also a
  /// fraction, from 0 on); Error if the expression needs too much memory for this line.
  std::optional<SeenNumbers> find(std::string_view line) const;

 private:
  struct Compiled;
  double number_of(const std::string& name, const std::string& text) const;

  std::shared_ptr<const Compiled> compiled_;
  std::vector<std::string> names_;
  std::string position_;
};

}  // namespace trainrt::program
