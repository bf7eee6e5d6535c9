#pragma once
#include <stdexcept>
#include <string>

#include <trainrt/export.hpp>

namespace trainrt {

/// The exit code of a process, for the batch system. 64, 70 and 75 have the values of sysexits.h.
enum class ExitCode : int {
  finished = 0,
  usage = 64,        ///< invalid command line, config, data or run directory; a restart would fail again
  failed = 70,       ///< the train function or the runtime failed
  stopped = 75,      ///< stopped on purpose and saved; run the same command again to resume
  no_progress = 76,  ///< restarts make no progress; do not requeue
};

/// The base class of all errors that trainrt throws. The message names the failed action, its object, and what to do.
class TRAINRT_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::failed) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }  ///< exit code of a process that ends because of this error

 private:
  ExitCode code_;
};

/// An error in the user's input or in the use of the API (exit code 64).
class TRAINRT_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::usage) {}
};

}  // namespace trainrt
