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
      if (starter_has_died()) return "the death of the process that started the ranks";
      return signal_name(cause);
  }
}

}  // namespace trainrt::batch
