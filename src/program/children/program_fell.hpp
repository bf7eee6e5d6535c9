#pragma once
#include <trainrt/error.hpp>

namespace trainrt::program {

/// The program of some rank fell. Thrown on all ranks at the same point, where they are in no call together. When it has
/// left program_function()'s function this rank's program is killed, and the function may be called again.
class ProgramFell : public Error {
 public:
  using Error::Error;
};

}  // namespace trainrt::program
