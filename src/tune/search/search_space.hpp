#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/options.hpp"

namespace trainrt::tune {

/// Values that a trial sets, by config key ("loop.lr").
using Params = std::map<std::string, std::string>;

/// Numbers from `low` to `high`: real numbers, or integers below `high` if `is_whole`. If `step` is above 0, only
/// multiples of `step`; for integers, `low` is then a multiple of `step`.
struct Interval {
  double low = 0, high = 0, step = 0;
  bool is_log = false, is_whole = false;
};
/// A choice among values. With `is_grid`, every value is tried in combination with every value of the other grids. With
/// `is_sample`, the values are numbers that were drawn from a distribution, so that numbers between them are valid, too.
struct Choice {
  std::vector<std::string> values;
  bool is_grid = false, is_sample = false;
};
using Domain = std::variant<Interval, Choice>;

/// Parses a domain such as `loguniform(1e-4, 1e-1)` or `choice(sgd, adam)`. Any other text is a single value. Throws
/// UsageError if the call or its arguments are invalid.
Domain domain_of(const std::string& text);

/// Returns the value of the domain at the coordinate `unit`, a number in [0, 1).
std::string value_at(const Domain& domain, double unit);
/// Returns the value of the interval that is nearest to `number`, as text.
std::string value_near(const Interval& interval, double number);
/// Returns whether values are drawn from the domain: it is neither a grid nor a single value.
bool is_drawn(const Domain& domain);

/// The search space, [tune.space]: the keys that trials set, each with its domain. Immutable.
class SearchSpace {
 public:
  /// A condition that a key of the space has one of several values.
  struct Condition {
    std::string key;
    std::vector<std::string> values;
  };
  struct Dimension {
    std::string key;  ///< config key; a name without a section belongs to [loop]
    Domain domain;
    std::string origin = {};                  ///< file and line of its definition
    std::optional<Condition> condition = {};  ///< trials set the key only if this holds
  };
  /// Parses the keys of the section. Throws UsageError with section, key and origin.
  explicit SearchSpace(const Options& space, std::string_view section = "[tune.space]");

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// Returns the number of combinations of all grids; 1 without grids.
  std::uint64_t grid_size() const;
  /// Returns the values of a trial. Grid values are selected by the number of a combination. Other values are computed
  /// from the coordinates `units`, one per dimension. Keys with a false condition are omitted.
  Params at(std::uint64_t combination, std::span<const double> units) const;
  /// Removes from `params` the keys that have a condition which is false.
  void leave_out_unmet(Params& params) const;

 private:
  void check_conditions(std::string_view section) const;

  std::vector<Dimension> dimensions_;
};

}  // namespace trainrt::tune
