#pragma once
#include <cstdint>

#include "core/options.hpp"

namespace trainrt::data {

/// Values of the key `verify`: when the checksums in files are verified.
///
/// Data that can only be decoded as a whole, such as a compressed chunk, is verified each time it is read, except with
/// `off`. `first` and `always` therefore differ only for byte ranges that can be read in parts (ChecksummedRange).
enum class Verify : std::uint8_t {
  off,
  first,   ///< verified once, before the first sample is used
  always,  ///< verified before the first sample is used, and each time a sample is read
};

/// Returns the value of the key `verify` in the options of a [data.NAME].
inline Verify verify_of(const Options& options) {
  const auto text = options.text("verify");
  return text == "off" ? Verify::off : text == "always" ? Verify::always : Verify::first;
}

/// Returns the specification of the key `verify`.
inline OptionSpec verify_option() {
  return {.key = "verify",
          .default_value = "first",
          .help =
              "when to verify checksums that are stored in files: "
              "first (before the first sample is used, at least once per attempt of a run), "
              "always (also each time a sample is read) or off (damaged files are read without an error, if possible)",
          .choices = {"first", "always", "off"}};
}

}  // namespace trainrt::data
