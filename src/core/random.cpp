#include <trainrt/random.hpp>

#include <cmath>
#include <numbers>

namespace trainrt {

namespace {

// Returns one block of random numbers of the generator Philox4x32-10 (Salmon et al. 2011), with the constants from the
// paper.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox({static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32),
                     static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                    {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)});
    ++counter_;
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t high = next_u32();
  return high << 32 | next_u32();
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Algorithm of Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019). The result is the high half
  // of the product of a random number and `bound`. Products that would make some results more likely are rejected.
  __extension__ using u128 = unsigned __int128;
  auto product = static_cast<u128>(next_u64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<u128>(next_u64()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  const auto first = philox({static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32),
                             static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(c >> 32)},
                            {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)});
  const auto second = philox(first, {static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(d >> 32)});
  return std::uint64_t{second[0]} << 32 | second[1];
}

}  // namespace trainrt
