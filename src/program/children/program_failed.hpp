#pragma once
#include <string>

#include <trainrt/error.hpp>

#include "core/mistake.hpp"

namespace trainrt::program {

/// Error of an attempt in which the program of a rank failed. The function of program_function() throws ProgramFailed
/// on all ranks, outside of collective calls, after it has killed all programs of the attempt. The caller may then call
/// the function again for the next attempt.
class ProgramFailed : public Error {
 public:
  using Error::Error;

  /// Text that identifies the errors of the programs of all ranks: their exceptions or, without an exception, their exit
  /// status and last lines of output. It is equal if two attempts fail in the same way; "" if a program has not failed, was
  /// ended by a signal or printed no error.
  std::string signature = {};
  /// The programs of all ranks failed with an error that a restart cannot fix: a missing module, a syntax error, or a
  /// command that does not exist.
  bool is_permanent = false;
  /// The mistake reported by the program that failed first; `mistake.kind` is "" if the failure may be temporary.
  Mistake mistake = {};
  /// The error message, without the last lines of output if rank 0's program printed the same lines.
  std::string brief = {};
};

}  // namespace trainrt::program
