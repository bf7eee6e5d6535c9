#pragma once
#include <string>

#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// A message about tune.mode, which is a warning or an ordinary notice.
struct DirectionNotice {
  std::string text;  ///< "" if no notice is necessary
  bool is_warning = false;
};

/// Returns a notice that states whether the highest or the lowest value of tune.metric is the best. The notice is a
/// warning if the name of the metric suggests the opposite: a low "loss" is usually better than a high one. Returns no
/// notice if tune.metric is not set, or if the config sets tune.mode and the name does not suggest the opposite.
DirectionNotice direction_notice(const Sweep& sweep);

}  // namespace trainrt::tune
