#pragma once
#include <string>

#include <trainrt/callback.hpp>

namespace trainrt::trainer {

/// A callback that may end or pause a run after a report.
class StoppingCallback : public Callback {
 public:
  struct Stop {
    std::string reason;   ///< "": the run continues
    bool pauses = false;  ///< true: the run pauses, and the same command resumes the run; false: the run finishes early
  };
  /// Returns whether the run must stop, and why. Called on rank 0 after each on_report().
  virtual Stop stop() = 0;
};

}  // namespace trainrt::trainer
