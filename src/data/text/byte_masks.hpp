#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace trainrt::data {

// Functions that process 64 bytes at a time and return one bit per byte. They speed up the search for a few characters.

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

/// Returns a word in which bit i is the parity of the bits 0 to i of `bits`. If the set bits of `bits` are quotes, the
/// set bits of the result are the opening quotes and the bytes inside quotes.
inline std::uint64_t parity_up_to(std::uint64_t bits) {
  for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
  return bits;
}

/// Returns a word with the lowest `count` bits set.
inline std::uint64_t bits_below(int count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

}  // namespace trainrt::data
