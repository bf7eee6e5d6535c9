#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// Values of the config section [train]: the train function or program to run.
struct TrainKeys {
  std::string function;
  std::string library;               ///< path of a shared library of the user with train functions; "": no library
  std::string program;               ///< command line of a program to run; "": a train function is run
  std::vector<std::string> command;  ///< words of the command line in `program`
  std::string stop_signal;           ///< name of the signal that asks the program to stop, without SIG: "TERM"
  double stop_timeout_s = 0;         ///< maximum time that the program may take to exit after a stop; then it is killed
};

}  // namespace trainrt::config
