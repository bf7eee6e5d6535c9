#pragma once
#include <array>
#include <cstdint>

#include <trainrt/export.hpp>

namespace trainrt {

/// A counter-based generator (Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011). The same (key, stream) gives the same numbers on every machine: nothing of it needs to be stored.
class TRAINRT_API Random {
 public:
  Random(std::uint64_t key, std::uint64_t stream) : key_(key), stream_(stream) {}
  std::uint32_t next_u32();
  std::uint64_t next_u64();
  double uniform();                          ///< [0, 1), 53 bits
  double normal();                           ///< mean 0, deviation 1 (Box-Muller)
  std::uint64_t below(std::uint64_t bound);  ///< [0, bound), unbiased (Lemire 2019); bound > 0

 private:
  std::uint64_t key_;
  std::uint64_t stream_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

/// One 64-bit seed from a few numbers, such as (run.seed, epoch, step, worker).
TRAINRT_API std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0, std::uint64_t d = 0);

}  // namespace trainrt
