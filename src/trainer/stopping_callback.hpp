#pragma once
#include <string>

#include <trainrt/callback.hpp>

namespace trainrt::trainer {

/// A callback that may end a run before its time, as a rule of [stop] does.
class StoppingCallback : public Callback {
 public:
  /// Asked after each on_report(): why the run is done; "" if it is not.
  virtual std::string stop_reason() = 0;
};

}  // namespace trainrt::trainer
