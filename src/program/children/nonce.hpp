#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// 32 hexadecimal digits from the kernel's random numbers: nobody else knows or guesses them.
std::string made_up_nonce();

/// Returns whether both are equal, in a time that depends on the length of `secret` only. Pure.
bool is_same_secret(std::string_view found, std::string_view secret);

}  // namespace trainrt::program
