#pragma once
#include <string>

namespace trainrt::program {

/// The exit code or signal with which a program ended.
struct ExitStatus {
  int exit_code = 0;
  int signal = 0;      ///< signal that ended the program; 0 if the program exited
  std::string memory;  ///< text of memory_kill_in_words(); "" if the out-of-memory killer was not involved
  bool is_good() const { return exit_code == 0 && signal == 0; }
  bool is_kill() const;          ///< a signal ended the program, other than SIGABRT, which a program sends to itself
  std::string in_words() const;  ///< returns "exited with 3" or "was ended by SIGKILL"
};

}  // namespace trainrt::program
