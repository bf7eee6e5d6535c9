#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

#include "cli/checkpoints/tensor_statistics.hpp"
#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

/// Counts distinct values, up to a maximum number of values.
class DistinctValues {
 public:
  static constexpr std::size_t max = 1000;
  void add(std::span<const std::byte> value, std::uint64_t times = 1);
  void merge(const DistinctValues& others);
  bool is_complete() const { return !is_full_; }  ///< false if the maximum was exceeded
  std::size_t count() const { return counts_.size(); }
  /// Returns the distinct values with their counts, most frequent first. Values with equal counts are sorted by their
  /// bytes.
  std::vector<std::pair<std::string, std::uint64_t>> by_frequency() const;

 private:
  std::unordered_map<std::string, std::uint64_t> counts_;
  bool is_full_ = false;
};

/// Statistics of a field's samples. Merging the same parts in the same order gives bitwise equal results.
class FieldStatistics {
 public:
  explicit FieldStatistics(const Dataset::Field& field);
  void add(const data::Column& column, std::uint64_t samples);
  void merge(const FieldStatistics& later);

  std::uint64_t samples() const { return samples_; }
  /// Returns statistics of all numbers; nullopt for texts.
  std::optional<TensorStatistics> elements() const;
  /// Returns statistics of the lengths of the samples: the number of values, or of bytes for a text. Returns nullopt if
  /// all samples have the same length.
  std::optional<TensorStatistics> lengths() const;
  std::uint64_t empty() const { return empty_; }  ///< number of samples without values
  /// Returns the distinct values, without NaN, of a field whose samples are single numbers or texts. Returns nullopt for
  /// other fields.
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
