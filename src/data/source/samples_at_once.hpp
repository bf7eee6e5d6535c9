#pragma once
#include <algorithm>
#include <cstdint>

namespace trainrt::data {

/// Computes how many samples to read by one call, so that a call reads about a target number of bytes. If fields vary in
/// length, the next number of samples is computed from the mean size of the samples of the last call. The number is small
/// at first, and grows at most by a factor of four per call, because the next samples may be longer.
class SamplesAtOnce {
 public:
  /// The target is `bytes` bytes, but at most `max_samples` samples. `fixed_bytes` is the size of a sample without its
  /// fields that vary in length.
  SamplesAtOnce(std::uint64_t bytes, std::uint64_t fixed_bytes, bool varies, std::uint64_t max_samples)
      : bytes_(bytes), max_samples_(max_samples), varies_(varies) {
    constexpr std::uint64_t first_count = 64;
    count_ = std::clamp<std::uint64_t>(bytes / std::max<std::uint64_t>(fixed_bytes, 1), 1,
                                       varies ? std::min(first_count, max_samples) : max_samples);
  }

  std::uint64_t count() const { return count_; }

  /// Reports that the last read returned `samples` samples with `bytes` bytes.
  void saw(std::uint64_t samples, std::uint64_t bytes) {
    if (varies_ && samples > 0)
      count_ = std::clamp<std::uint64_t>(bytes_ * samples / std::max<std::uint64_t>(bytes, 1), 1,
                                         std::min(4 * count_, max_samples_));
  }

 private:
  std::uint64_t bytes_, max_samples_, count_ = 1;
  bool varies_;
};

}  // namespace trainrt::data
