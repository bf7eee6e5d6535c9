// Points that cover the space evenly: the Halton sequence in prime bases (Halton, On the efficiency of certain
// quasi-random sequences of points, Numerische Mathematik 2, 1960). Each dimension is shifted by a random number that
// depends on the seed (Cranley and Patterson, Randomization of number theoretic methods for multiple integration, SIAM
// J. Numer. Anal. 13, 1976).
#include <cmath>

#include <trainrt/random.hpp>

#include "tune/search/searcher.hpp"

namespace trainrt::tune::plugins {

namespace {

/// Returns prime number `number`, from 0: 2, 3, 5, ...
std::uint64_t prime(std::size_t number) {
  std::uint64_t found = 2;
  for (std::uint64_t candidate = 3; number > 0; ++candidate) {
    bool is_prime = true;
    for (std::uint64_t divisor = 2; divisor * divisor <= candidate && is_prime; ++divisor)
      is_prime = candidate % divisor != 0;
    if (!is_prime) continue;
    found = candidate;
    --number;
  }
  return found;
}

/// Returns the digits of `number` in `base`, reversed, as a fraction.
double radical_inverse(std::uint64_t number, std::uint64_t base) {
  double result = 0, digit = 1.0 / static_cast<double>(base);
  for (; number > 0; number /= base, digit /= static_cast<double>(base))
    result += digit * static_cast<double>(number % base);
  return result;
}

double halton_unit(std::uint64_t seed, std::uint64_t trial, std::size_t dimension) {
  const auto shifted = radical_inverse(trial + 1, prime(dimension)) + Random(mix_seed(seed, dimension), 0).uniform();
  return shifted - std::floor(shifted);
}

}  // namespace

extern const Searcher halton;
const Searcher halton{.name = "halton",
                      .help = "values that cover the space more evenly than random ones (a Halton sequence)",
                      .unit = halton_unit};

}  // namespace trainrt::tune::plugins
