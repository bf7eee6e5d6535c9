#pragma once
#include <algorithm>
#include <cstdint>

namespace trainrt::data {

/// How many samples are read at once so that they have about so many bytes. If fields vary in length that follows from the
/// samples before: few at first, and never more than four times as many as the last time, since the next may be long.
class SamplesAtOnce {
 public:
  /// `fixed`: bytes of a sample's fields that do not vary. `most`: samples.
  SamplesAtOnce(std::uint64_t bytes, std::uint64_t fixed, bool varies, std::uint64_t most)
      : bytes_(bytes), most_(most), varies_(varies) {
    constexpr std::uint64_t at_first = 64;
    count_ =
        std::clamp<std::uint64_t>(bytes / std::max<std::uint64_t>(fixed, 1), 1, varies ? std::min(at_first, most) : most);
  }

  std::uint64_t count() const { return count_; }

  void saw(std::uint64_t samples, std::uint64_t bytes) {
    if (!varies_ || samples == 0) return;
    count_ =
        std::clamp<std::uint64_t>(bytes_ * samples / std::max<std::uint64_t>(bytes, 1), 1, std::min(4 * count_, most_));
  }

 private:
  std::uint64_t bytes_, most_, count_ = 1;
  bool varies_;
};

}  // namespace trainrt::data
