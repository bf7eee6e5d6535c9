#pragma once
#include <cstdint>

#include "core/options.hpp"

namespace trainrt::data {

/// Values of the key `verify`: when the checksums in files are verified.
///
/// Data that is decompressed or decoded as a unit is verified each time it is read, except with `off`. `first` and
/// `always` therefore differ only for byte ranges that can be read in parts (ChecksummedRange).
enum class Verify : std::uint8_t {
  off,
  first,   ///< verified once, before the first sample is used
  always,  ///< verified before the first sample is used, and each time a sample is read
};

/// Returns the value of the key `verify` in the options of a [data.NAME].
Verify verify_of(const Options& options);

/// Returns the specification of the key `verify`.
OptionSpec verify_option();

}  // namespace trainrt::data
