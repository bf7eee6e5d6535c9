#pragma once
#include <stdexcept>
#include <string>

#include <trainrt/export.hpp>

namespace trainrt {

/// The exit codes of trainrt's processes, for the batch system. 64, 70 and 75 are EX_USAGE, EX_SOFTWARE and EX_TEMPFAIL of
/// sysexits.h.
enum class ExitCode : int {
  finished = 0,
  usage = 64,        ///< invalid command line, config, data or run directory; a restart would fail again
  failed = 70,       ///< the train function or the trainrt runtime failed
  stopped = 75,      ///< the run was saved and stopped on purpose; the same command resumes it
  no_progress = 76,  ///< restarts made no progress, or the end could not be recorded on full storage; do not requeue
};

/// The base class of all errors that trainrt throws. The message names the failed action, the object concerned, and a
/// remedy.
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
