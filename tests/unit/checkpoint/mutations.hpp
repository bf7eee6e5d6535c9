#pragma once
#include <random>
#include <string>

namespace trainrt::test {

/// Returns a mutated copy of a text: flipped bits, cuts, repeated or moved parts, and huge or unusual numbers.
inline std::string mutated(std::string text, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % (limit == 0 ? 1 : limit)); };
  static const char* const odd[] = {"-1",
                                    "9223372036854775808",
                                    "18446744073709551616",
                                    "1e400",
                                    "0.5",
                                    "null",
                                    "[]",
                                    "\"\"",
                                    "{}",
                                    "[[[[[[[[[[[[[[[[",
                                    "true",
                                    "\\u0000",
                                    "\xff",
                                    "9223372036854775807"};
  for (auto rounds = 1 + below(3); rounds > 0; --rounds) {
    const auto at = below(text.size());
    const auto length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      default: {
        // Replaces a number if the text has one.
        const auto digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const auto behind = std::min(text.find_first_not_of("0123456789", digit), text.size());
        text.replace(digit, behind - digit, odd[below(std::size(odd))]);
      }
    }
  }
  return text;
}

}  // namespace trainrt::test
