#pragma once
#include <cstdint>

#include "core/options.hpp"

namespace trainrt::data {

/// The key `verify`: when the checksums that a file stores are verified. What is decompressed or decoded as a unit is
/// verified with each reading unless it is off; the difference is in ranges of which single samples are read
/// (ChecksummedRange).
enum class Verify : std::uint8_t {
  off,
  first,   ///< once, before the first sample is used
  always,  ///< and again with each reading
};

/// Returns what the keys of a [data.NAME] say.
Verify verify_of(const Options& options);

/// The specification of the key.
OptionSpec verify_option();

}  // namespace trainrt::data
