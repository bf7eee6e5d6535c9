#pragma once
#include <string>

namespace trainrt::program {

/// How a program ended.
struct ExitStatus {
  int exit_code = 0;
  int signal = 0;      ///< signal that ended it; 0 if it exited
  std::string memory;  ///< role of the out-of-memory killer (memory_kill_in_words()); "" if none
  bool is_good() const { return exit_code == 0 && signal == 0; }
  bool is_kill() const;          ///< a signal other than SIGABRT, which a program raises itself, ended it
  std::string in_words() const;  ///< "exited with 3", "was ended by SIGKILL, by the kernel's out-of-memory killer"
};

}  // namespace trainrt::program
