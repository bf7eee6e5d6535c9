#pragma once
#include <string>

namespace trainrt::frameworks {

/// Sets how many threads libtorch and its BLAS compute with, and allows only algorithms that give the same bits every time.
/// For the whole process.
void set_numerics(int threads);

/// The file of a BLAS that is known to be slow (the reference one, tens of times), "" if there is none to complain
/// about.
std::string slow_blas();

}  // namespace trainrt::frameworks
