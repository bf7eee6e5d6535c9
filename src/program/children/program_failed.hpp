#pragma once
#include <trainrt/error.hpp>

namespace trainrt::program {

/// Error of an attempt in which the program of a rank failed. The function of program_function() throws ProgramFailed
/// on all ranks, outside of collective calls, after it has killed all programs of the attempt. The caller may then call
/// the function again for the next attempt.
class ProgramFailed : public Error {
 public:
  using Error::Error;
};

}  // namespace trainrt::program
