#pragma once
#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// Returns the number of CPUs that each rank may use: the value of OMP_NUM_THREADS if this variable is set to a positive
/// number, otherwise the number of CPUs on which the rank may run. If several ranks of a node may run on the same CPUs, the
/// CPUs are divided by the number of these ranks. The result is the minimum over all ranks. Collective.
int cpus_of_rank(Context& ctx);

}  // namespace trainrt::frameworks::trees
