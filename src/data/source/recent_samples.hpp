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

/// Reads one field of a source, which varies in length, and keeps the last samples that were asked for: whoever goes
/// through a long one piece by piece reads it once. Any threads may ask at once; they share what is kept.
class RecentSamples {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;
  static constexpr std::size_t most_bytes = 32 << 20;
  static constexpr std::size_t least_kept = 2;  ///< whatever they take: they were in memory to be read

  RecentSamples(std::shared_ptr<const Source> source, std::size_t field) : source_(std::move(source)), field_(field) {}
  /// The bytes of the samples with these numbers, which grow. What is not kept is read at once.
  std::vector<Values> read(std::span<const std::uint64_t> samples) const;

 private:
  Values kept(std::uint64_t sample) const;
  void keep(std::uint64_t sample, const Values& values) const;

  std::shared_ptr<const Source> source_;
  std::size_t field_;
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<std::uint64_t, Values>> recent_;  ///< the last one asked for at the end
  mutable std::size_t bytes_ = 0;
};

}  // namespace trainrt::data
