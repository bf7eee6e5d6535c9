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

/// What a trial sets, by config key ("loop.lr").
using Params = std::map<std::string, std::string>;

/// Real numbers from low to high; whole ones if `is_whole` (without `high` itself); `step` > 0: multiples of it.
struct Interval {
  double low = 0, high = 0, step = 0;
  bool is_log = false, is_whole = false;
};
/// One of several texts. `is_grid`: each is tried, with each of the other grids' values.
struct Choice {
  std::vector<std::string> values;
  bool is_grid = false;
};
using Domain = std::variant<Interval, Choice>;

/// `loguniform(1e-4, 1e-1)`, `choice(sgd, adam)`, and so on; what is no such call is one value. UsageError that says what
/// is wrong.
Domain domain_of(const std::string& text);

/// The value at `unit`, in [0, 1).
std::string value_at(const Domain& domain, double unit);
/// The value of the interval that is nearest to a number.
std::string value_near(const Interval& interval, double number);
/// Whether values are drawn from it: it is no grid, and no single value.
bool is_drawn(const Domain& domain);

/// [tune.space]: which keys trials set, and to what.
class SearchSpace {
 public:
  /// Another key of the space has one of these values.
  struct Condition {
    std::string key;
    std::vector<std::string> values;
  };
  struct Dimension {
    std::string key;  ///< of the config: a bare name means [loop]
    Domain domain;
    std::string origin = {};                  ///< where it stands
    std::optional<Condition> condition = {};  ///< without which trials do not set it
  };
  /// UsageError that names key and place, in that section.
  explicit SearchSpace(const Options& space, std::string_view section = "[tune.space]");

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// The number of combinations of all grids; 1 if there is none.
  std::uint64_t grid_size() const;
  /// The grids' combination of that number, and of the rest what `units` say, by dimension; without what is not met.
  Params at(std::uint64_t combination, std::span<const double> units) const;
  /// Leaves out keys whose conditions are not met.
  void leave_out_unmet(Params& params) const;

 private:
  void check_conditions(std::string_view section) const;

  std::vector<Dimension> dimensions_;
};

}  // namespace trainrt::tune
