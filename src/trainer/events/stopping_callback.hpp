#pragma once
#include <string>

#include <trainrt/callback.hpp>

namespace trainrt::trainer {

/// A callback that may end a run before its time, as a rule of [stop] does, or pause it.
class StoppingCallback : public Callback {
 public:
  struct Stop {
    std::string reason;   ///< "": the run goes on
    bool pauses = false;  ///< it has not finished: as after a signal, the same command goes on with it
  };
  /// Asked after each on_report().
  virtual Stop stop() = 0;
};

}  // namespace trainrt::trainer
