#include "batch/stop_cause.hpp"

#include "batch/signals.hpp"

namespace trainrt::batch {

std::string describe(StopCause cause) {
  switch (cause) {
    case no_stop:
      return "nothing";
    case slow_node:
      return "a slow node";
    case paused:
      return "a callback";
    case time_is_up:
      return "the end of the job's time";
    case ended_early:
      return "itself";
    default:
      return signal_name(cause);
  }
}

}  // namespace trainrt::batch
