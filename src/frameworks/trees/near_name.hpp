#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt::frameworks::trees {

/// The name that is most like it, if one is like it: at most a third of its letters are wrong, missing, too many or
/// swapped with the next. "": none is.
std::string near_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace trainrt::frameworks::trees
