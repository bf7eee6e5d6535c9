#pragma once
#include <string>

namespace trainrt::program {

/// How a program ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;      ///< that ended it; 0: none
  std::string memory;  ///< memory_kill_in_words()
  bool is_good() const { return exit_code == 0 && signal == 0; }
  bool is_kill() const;          ///< by a signal that it did not raise itself, as abort() does
  std::string in_words() const;  ///< "exited with 3", "was ended by SIGKILL, by the kernel's out-of-memory killer"
};

}  // namespace trainrt::program
