#pragma once
#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// Returns the number of CPUs per rank: those on which a rank may run, divided by the number of ranks of its node that may
/// run on the same CPUs; the minimum over all ranks. Collective.
int cpus_of_rank(Context& ctx);

}  // namespace trainrt::frameworks::trees
