#pragma once
#include <trainrt/error.hpp>

namespace trainrt::program {

/// The program of some rank failed. Thrown on all ranks at the same point, outside of collective calls. The programs of
/// this attempt have been killed when program_function()'s function has thrown it, and the function may be called again.
class ProgramFailed : public Error {
 public:
  using Error::Error;
};

}  // namespace trainrt::program
