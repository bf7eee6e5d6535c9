#include "data/preprocess/words.hpp"

#include <span>

#include "core/sha256.hpp"

namespace trainrt::data {

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t first = 0;;) {
    const auto end = text.find(' ', first);
    words.push_back(text.substr(first, end - first));
    if (end == std::string_view::npos) return words;
    first = end + 1;
  }
}

std::uint64_t hashed_feature(std::string_view text, std::uint32_t features) {
  std::uint64_t rest = 0;
  for (const auto byte : sha256_of(std::as_bytes(std::span(text)))) rest = (rest << 8 | byte) % features;
  return rest;
}

}  // namespace trainrt::data
