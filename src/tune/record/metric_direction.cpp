#include "tune/record/metric_direction.hpp"

#include <fmt/format.h>

#include "config/program_settings.hpp"
#include "config/score_order.hpp"

namespace trainrt::tune {

DirectionNotice direction_notice(const Sweep& sweep) {
  using config::Better;
  if (sweep.metric().empty()) return {};
  const bool minimizes = sweep.minimize();
  const bool is_doubtful = config::better_by_name(sweep.metric()) == (minimizes ? Better::higher : Better::lower);
  if (sweep.sets_mode() && !is_doubtful) return {};
  const auto origin = sweep.metric_origin();
  const auto* other = minimizes ? "max" : "min";
  const auto setting = origin.starts_with(config::origin_of_tuner) ? fmt::format("TuneConfig(mode='{}')", other)
                                                                   : fmt::format("mode = {} in [tune]", other);
  return {fmt::format("{}{}tune.metric = {}{}: the trial with the {} {} is the best; set {} if {} values are better",
                      origin, origin.empty() ? "" : ": ", sweep.metric(),
                      sweep.sets_mode() ? fmt::format(" with mode = {}", minimizes ? "min" : "max")
                                        : " without mode, whose default is max",
                      minimizes ? "lowest" : "highest", sweep.metric(), setting, minimizes ? "higher" : "lower"),
          is_doubtful};
}

}  // namespace trainrt::tune
