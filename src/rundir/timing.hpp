#pragma once

namespace trainrt::rundir {

/// Where the time of one attempt went, by rank 0's clock, from the start of its process on. Seconds.
struct Timing {
  double startup_s = 0;     ///< up to the first step or report: launch, restore, first data
  double steps_s = 0;       ///< from there to the end of the train function, without the saves
  double checkpoint_s = 0;  ///< the train thread stood still for a save
  double shutdown_s = 0;    ///< after the train function

  double total_s() const { return startup_s + steps_s + checkpoint_s + shutdown_s; }
};

}  // namespace trainrt::rundir
