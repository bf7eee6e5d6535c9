#pragma once
#include <trainrt/error.hpp>

namespace trainrt::program {

/// The program of some rank fell. Thrown on all ranks at the same point, where nothing of theirs is under way; when it has
/// left program_function()'s function none of the run's programs is left, and the function may be called again.
class ProgramFell : public Error {
 public:
  using Error::Error;
};

}  // namespace trainrt::program
