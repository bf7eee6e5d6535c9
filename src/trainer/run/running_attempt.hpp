#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

/// The properties of a running attempt that are needed to report a failure of the attempt.
struct RunningAttempt {
  const config::RunSpec& spec;
  int number;
  io::FencedDirectory files;  ///< access to the run directory
  std::string there_before;   ///< Preparation::there_before
  const Callbacks& callbacks;
  bool is_new = false;      ///< the attempt created the run
  bool has_caller = false;  ///< TrainCall::has_caller
};

}  // namespace trainrt::trainer
