#pragma once
#include <array>
#include <cstdint>

#include <trainrt/export.hpp>

namespace trainrt {

/// A counter-based random generator (Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011). The same (key, stream) gives the same numbers on every machine, so checkpoints need not store a
/// generator's state. Not thread-safe.
class TRAINRT_API Random {
 public:
  Random(std::uint64_t key, std::uint64_t stream) : key_(key), stream_(stream) {}
  std::uint32_t next_u32();  ///< returns 32 random bits
  std::uint64_t next_u64();  ///< returns 64 random bits
  double uniform();          ///< returns a number in [0, 1), with 53 random bits
  double normal();           ///< returns a normally distributed number: mean 0, standard deviation 1 (Box-Muller)
  /// Returns an unbiased random integer in [0, bound) (Lemire 2019). Requires `bound` > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t key_;
  std::uint64_t stream_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

/// Returns a 64-bit seed computed from up to four numbers, such as (run.seed, epoch, step, rank).
TRAINRT_API std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0, std::uint64_t d = 0);

}  // namespace trainrt
