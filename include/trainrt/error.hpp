#pragma once
#include <stdexcept>
#include <string>

#include <trainrt/export.hpp>

namespace trainrt {

/// What the process tells the batch system. 64, 70 and 75 are the values of sysexits.h.
enum class ExitCode : int {
  finished = 0,
  usage = 64,        ///< bad command line, config, data or run directory: starting again changes nothing
  failed = 70,       ///< the train function or the runtime failed
  stopped = 75,      ///< stopped on purpose, everything is saved: run the same command again
  no_progress = 76,  ///< restarts do not move the run forward: do not requeue
};

/// Every error of trainrt. The message says what was attempted, on what, and what to do.
class TRAINRT_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::failed) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The user's input cannot work as it stands (exit 64).
class TRAINRT_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::usage) {}
};

}  // namespace trainrt
