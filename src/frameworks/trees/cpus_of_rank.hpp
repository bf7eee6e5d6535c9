#pragma once
#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// Returns the number of CPUs that each rank may use. If several ranks of a node may run on the same CPUs, the CPUs are
/// divided by the number of these ranks. The result is the minimum over all ranks. Collective.
int cpus_of_rank(Context& ctx);

}  // namespace trainrt::frameworks::trees
