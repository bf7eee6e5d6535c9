#pragma once
#include <string>
#include <string_view>

namespace trainrt {

/// A text for an error message, if it may come from outside and be of any length: as it is up to `most` bytes, else its
/// beginning and "... (N bytes)". UTF-8 stays whole.
std::string excerpt(std::string_view text, std::size_t most = 300);

}  // namespace trainrt
