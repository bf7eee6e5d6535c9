#pragma once
#include <span>
#include <string>

namespace trainrt {

/// Whether a name is among those that patterns choose (fnmatch(3): * ? []; * crosses '/'). The last that matches decides,
/// and one with a leading '!' keeps its names out; if none matches, the name is chosen only if the first pattern keeps
/// names out. Names below "trainrt/" are the runtime's own: only patterns that begin so speak of them. Pure.
bool chosen_by(std::span<const std::string> patterns, const std::string& name);

}  // namespace trainrt
