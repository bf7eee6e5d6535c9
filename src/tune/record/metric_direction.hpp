#pragma once
#include <string>

#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// A message about tune.mode, and whether it is a warning.
struct DirectionNotice {
  std::string text;  ///< "" if no notice is necessary
  bool is_warning = false;
};

/// Returns a notice that states which values of tune.metric are the best, if the config does not set tune.mode. Returns a
/// warning if the name of the metric suggests that other values are better, for example lower values of "loss".
DirectionNotice direction_notice(const Sweep& sweep);

}  // namespace trainrt::tune
