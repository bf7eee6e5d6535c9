#pragma once
#include <cstdint>
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
  /// Called on rank 0 when the run continues from a checkpoint with `iteration` reports.
  virtual void on_restored(std::int64_t /*iteration*/) {}
  /// Returns whether the run must stop, and why. Called on rank 0 after each on_report() and on_restored().
  virtual Stop stop() = 0;
};

}  // namespace trainrt::trainer
