#pragma once
#include <string>

#include "checkpoint/checkpoint.hpp"

namespace trainrt::checkpoint {

/// The patterns take this name in: the last that matches decides; where none does, only patterns that begin with one that
/// keeps names out let it pass. Names below "trainrt/" are the runtime's own: only patterns that begin so speak of them.
/// Without patterns every name. Pure.
bool selects(const Selection& selection, const std::string& name);

}  // namespace trainrt::checkpoint
