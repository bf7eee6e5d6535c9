#include "data/preprocess/hashed_feature.hpp"

#include <span>

#include "core/sha256.hpp"

namespace trainrt::data {

std::uint64_t hashed_feature(std::string_view text, std::uint32_t features) {
  std::uint64_t rest = 0;
  for (const auto byte : sha256_of(std::as_bytes(std::span(text)))) rest = (rest << 8 | byte) % features;
  return rest;
}

}  // namespace trainrt::data
