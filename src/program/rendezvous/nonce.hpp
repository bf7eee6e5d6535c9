#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// Returns a random text of 32 hexadecimal digits from the kernel's random number generator.
std::string random_nonce();

/// Returns whether `found` is equal to `secret`. The time of the comparison depends only on the length of `secret`, and
/// therefore reveals nothing about its content. Pure function.
bool is_same_secret(std::string_view found, std::string_view secret);

}  // namespace trainrt::program
