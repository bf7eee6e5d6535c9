#include "tune/record/metric_direction.hpp"

#include <fmt/format.h>

#include "config/score_order.hpp"

namespace trainrt::tune {

DirectionNotice direction_notice(const Sweep& sweep) {
  using config::Better;
  if (sweep.metric().empty()) return {};
  const bool minimizes = sweep.minimize();
  const bool is_doubtful = config::better_by_name(sweep.metric()) == (minimizes ? Better::higher : Better::lower);
  if (sweep.sets_mode() && !is_doubtful) return {};
  const auto origin = sweep.metric_origin();
  return {fmt::format(
              "{}{}tune.metric = {}{}: the trial with the {} {} is the best; set mode = {} in [tune] if {} values are "
              "better",
              origin, origin.empty() ? "" : ": ", sweep.metric(),
              sweep.sets_mode() ? fmt::format(" with mode = {}", minimizes ? "min" : "max")
                                : " without mode, whose default is max",
              minimizes ? "lowest" : "highest", sweep.metric(), minimizes ? "max" : "min", minimizes ? "higher" : "lower"),
          is_doubtful};
}

}  // namespace trainrt::tune
