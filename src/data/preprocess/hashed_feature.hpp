#pragma once
#include <cstdint>
#include <string_view>

namespace trainrt::data {

/// The place of a text among `features` > 0 columns: its SHA-256, as a number of 256 bits, modulo `features`. That is what
/// Ray's hashing preprocessors hash by, and what Python has without a package.
std::uint64_t hashed_feature(std::string_view text, std::uint32_t features);

}  // namespace trainrt::data
