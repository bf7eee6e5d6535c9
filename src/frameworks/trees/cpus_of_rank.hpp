#pragma once
#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// The CPUs that this rank has for itself: those that it may run on, divided by the ranks of its node that may run on the
/// same; on all ranks the fewest that one has. Collective.
int cpus_of_rank(Context& ctx);

}  // namespace trainrt::frameworks::trees
