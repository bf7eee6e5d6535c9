#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

#include "cli/tensor_statistics.hpp"
#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

/// Values that were seen, and how often, as long as there are not too many.
class DistinctValues {
 public:
  static constexpr std::size_t most = 1000;
  void add(std::span<const std::byte> value, std::uint64_t times = 1);
  void merge(const DistinctValues& others);
  bool is_complete() const { return !is_full_; }
  std::size_t count() const { return counts_.size(); }
  /// The most frequent first; of those as frequent the smallest bytes first.
  std::vector<std::pair<std::string, std::uint64_t>> by_frequency() const;

 private:
  std::unordered_map<std::string, std::uint64_t> counts_;
  bool is_full_ = false;
};

/// What the samples of a field are like, gathered in one pass, part by part: parts that are merged in the same order give
/// the same bits.
class FieldStatistics {
 public:
  explicit FieldStatistics(const Dataset::Field& field);
  void add(const data::Column& column, std::uint64_t samples);
  void merge(const FieldStatistics& later);

  std::uint64_t samples() const { return samples_; }
  /// Of all elements; none of texts.
  std::optional<TensorStatistics> elements() const;
  /// Values of a sample (a text's bytes), of a field that varies in length.
  std::optional<TensorStatistics> lengths() const;
  std::uint64_t empty() const { return empty_; }  ///< samples without values
  /// Of single numbers and texts; NaN is none.
  const std::optional<DistinctValues>& distinct() const { return distinct_; }
  const Dataset::Field& field() const { return field_; }
  bool is_text() const { return field_.varies && field_.dtype == DType::u8; }

 private:
  void add_distinct(const data::Column& column, std::uint64_t samples);

  Dataset::Field field_;
  std::uint64_t samples_ = 0, empty_ = 0;
  StatisticsGatherer elements_, lengths_;
  std::optional<DistinctValues> distinct_;
};

}  // namespace trainrt::cli::datasets
