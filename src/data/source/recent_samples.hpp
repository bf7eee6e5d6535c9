#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// Reads the samples of one field that varies in length, and keeps the most recently used samples in memory. A caller
/// that uses a long sample part by part then causes only one read of the sample from the source. Thread-safe.
class RecentSamples {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;
  static constexpr std::size_t max_bytes = 32 << 20;
  static constexpr std::size_t min_kept = 2;   ///< samples kept even if they exceed max_bytes
  static constexpr std::size_t max_kept = 64;  ///< maximum number of samples kept, because a search compares with each

  RecentSamples(std::shared_ptr<const Source> source, std::size_t field) : source_(std::move(source)), field_(field) {}
  /// Returns the values of the samples with the indices `samples`. Reads the samples that are not in memory by one call of
  /// the source.
  std::vector<Values> read(std::span<const std::uint64_t> samples) const;

 private:
  Values find(std::uint64_t sample) const;
  void keep(std::uint64_t sample, const Values& values) const;

  std::shared_ptr<const Source> source_;
  std::size_t field_;
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<std::uint64_t, Values>> recent_;  ///< the most recently used last
  mutable std::size_t bytes_ = 0;
};

}  // namespace trainrt::data
