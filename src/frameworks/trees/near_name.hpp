#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt::frameworks::trees {

/// Returns the candidate in `names` that is nearest to `name`; "" if more than a third of the letters of every candidate
/// are changed, inserted, removed, or swapped with the next. For messages about unknown names. Pure function.
std::string near_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace trainrt::frameworks::trees
