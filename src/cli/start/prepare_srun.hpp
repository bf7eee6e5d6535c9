#pragma once
#include "core/environment.hpp"

namespace trainrt::cli {

/// Sets the variables of this process that srun needs and a batch script of the user's own may lack.
void prepare_srun(const Environment& environment);

}  // namespace trainrt::cli
