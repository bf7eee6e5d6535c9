#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// Returns 32 hexadecimal digits from the kernel's random number generator.
std::string random_nonce();

/// Returns whether both texts are equal. The time depends only on the length of `secret`, so that it reveals nothing about
/// its content. Pure.
bool is_same_secret(std::string_view found, std::string_view secret);

}  // namespace trainrt::program
