#pragma once
#include <trainrt/error.hpp>

namespace trainrt::program {

/// The program of some rank failed. The function of program_function() throws it on all ranks at the same point, outside of
/// collective calls, after it has killed the programs of the attempt. The function may be called again.
class ProgramFailed : public Error {
 public:
  using Error::Error;
};

}  // namespace trainrt::program
