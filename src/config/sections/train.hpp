#pragma once
#include <string>

namespace trainrt::config {

/// The values of [train]: what to run.
struct TrainKeys {
  std::string function;
  std::string library;      ///< a user's module, "" = none
  std::string program;      ///< a command line, "" = none
  std::string stop_signal;  ///< for the program: "TERM"
  double stop_timeout_s = 0;
};

}  // namespace trainrt::config
