#pragma once
#include <string>

#include <trainrt/callback.hpp>

namespace trainrt::trainer {

/// A callback that may end or pause a run after a report.
class StoppingCallback : public Callback {
 public:
  struct Stop {
    std::string reason;   ///< "": the run continues
    bool pauses = false;  ///< the run is stopped, and the same command continues it; otherwise it has finished early
  };
  /// Returns whether the run must stop. Called on rank 0 after each on_report().
  virtual Stop stop() = 0;
};

}  // namespace trainrt::trainer
