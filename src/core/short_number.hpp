#pragma once
#include <string>

namespace trainrt {

/// Returns `text` with six significant digits if it is a real number with more digits: "0.02668788467563948" becomes
/// "0.0266879". Integers and other texts are returned unchanged. Pure function.
std::string short_number(const std::string& text);

}  // namespace trainrt
