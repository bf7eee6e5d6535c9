#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [train]: the train function or program to run.
struct TrainKeys {
  std::string function;
  std::string library;               ///< shared library of a user; "": no library
  std::string program;               ///< command line; "": a train function is run
  std::vector<std::string> command;  ///< the words of `program`
  std::string stop_signal;           ///< name without SIG: "TERM"
  double stop_timeout_s = 0;
};

}  // namespace trainrt::config
