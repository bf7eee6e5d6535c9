#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "data/preprocess/exact_moments.hpp"
#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// Count, minimum, maximum, mean and standard deviation of a column of numbers. NaN is ignored. Integers are converted to
/// f64. add() throws UsageError for an infinite value.
class NumberStatistic final : public Statistic {
 public:
  /// `has_moments`: whether mean() and deviation() are computed, too, which takes longer.
  explicit NumberStatistic(bool has_moments) {
    if (has_moments) moments_.emplace();
  }

  std::uint64_t count() const { return count_; }
  /// min(), max(), mean() and deviation() return NaN if all values are NaN.
  double min() const { return count_ > 0 ? min_ : nan; }
  double max() const { return count_ > 0 ? max_ : nan; }
  double mean() const { return count_ > 0 ? moments_->mean(count_) : nan; }
  double deviation() const;  ///< standard deviation of the population: the sum of squares is divided by count()

  std::unique_ptr<Statistic> fresh() const override { return std::make_unique<NumberStatistic>(moments_.has_value()); }
  void add(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  std::uint64_t count_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  std::optional<ExactMoments> moments_;
};

/// Exact quantiles of a column of numbers. NaN is ignored. add() throws UsageError for an infinite value. A quantile
/// between two values is interpolated linearly, as by NumPy's percentile().
///
/// The values are found in four passes over the data. Each pass counts the values by their next 16 bits (radix
/// selection). The counts need 512 KiB of memory per searched value, for any number of samples.
class QuantileStatistic final : public Statistic {
 public:
  explicit QuantileStatistic(std::vector<double> quantiles) : quantiles_(std::move(quantiles)) { counts_[0]; }
  /// Returns the quantiles after the last pass, in the order of the constructor's `quantiles`; NaN if all values are NaN.
  std::vector<double> values() const;

  std::unique_ptr<Statistic> fresh() const override;
  void add(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;
  bool begin_next_pass() override;

 private:
  /// A value that is searched for: its leading bits that were found so far, and its position among the sorted values
  /// that have the same leading bits.
  struct Target {
    std::uint64_t prefix = 0;
    std::uint64_t rank = 0;
  };
  void add(double value);
  void choose_targets();

  std::vector<double> quantiles_;
  int pass_ = 0;
  std::uint64_t count_ = 0;                                     ///< number of values; known after the first pass
  std::vector<Target> targets_;                                 ///< two targets for each quantile
  std::map<std::uint64_t, std::vector<std::uint64_t>> counts_;  ///< for each prefix, counts by the next 16 bits
};

}  // namespace trainrt::data
