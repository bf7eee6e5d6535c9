#pragma once
#include <span>
#include <string>
#include <string_view>

namespace trainrt::frameworks::trees {

/// Returns the name in `names` that is most similar to `name`, for messages about unknown names. Returns "" if each of
/// `names` differs by typing errors in more than a third of the letters. A typing error is a letter that is changed,
/// inserted, removed, or swapped with the next letter. Pure function.
std::string near_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace trainrt::frameworks::trees
