#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>

namespace trainrt::data {

// Functions that process 64 bytes at a time and return one bit per byte. They speed up the search for a few characters.

inline constexpr std::size_t bytes_per_mask = 64;

/// Returns a bit for each of the 64 bytes at `bytes`. The bit is set if the byte is equal to `wanted`.
inline std::uint64_t equal_bits(const char* bytes, char wanted) {
  std::uint64_t bits = 0;
#ifdef __SSE2__
  const auto pattern = _mm_set1_epi8(wanted);
  for (int part = 0; part < 4; ++part) {
    const auto some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
    const auto equal = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, pattern)));
    bits |= std::uint64_t{equal} << (16 * part);
  }
#else
  for (int i = 0; i < 64; ++i) bits |= std::uint64_t{bytes[i] == wanted} << i;
#endif
  return bits;
}

/// Returns a word with the lowest `count` bits set.
inline std::uint64_t bits_below(int count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

}  // namespace trainrt::data
