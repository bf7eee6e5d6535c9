#pragma once
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// The layout of the state over all ranks, once they agree: all have the same entries, with the same dtypes, shapes and
/// placements, and the same values. What differs throws one Error, the same on all ranks, that names the entries and the
/// ranks. Collective.
Layout agree(const State& state, Communicator& communicator);

}  // namespace trainrt::checkpoint
