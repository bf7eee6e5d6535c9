#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [train]: what to run.
struct TrainKeys {
  std::string function;
  std::string library;               ///< a user's module, "" = none
  std::string program;               ///< a command line, "" = none
  std::vector<std::string> command;  ///< its words, as they were given or split
  std::string stop_signal;           ///< for the program: "TERM"
  double stop_timeout_s = 0;
};

}  // namespace trainrt::config
