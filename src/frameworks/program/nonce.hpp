#pragma once
#include <string>

namespace trainrt::program {

/// 32 hexadecimal digits from the kernel's random numbers: nobody else knows or guesses them.
std::string made_up_nonce();

}  // namespace trainrt::program
