#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "data/preprocess/exact_sum.hpp"
#include "data/preprocess/statistic.hpp"

namespace trainrt::data {

/// Of a column of numbers: how many are no NaN, their least and largest, and their mean and deviation. Integers count as
/// f64. Infinity is a UsageError.
class NumberStatistic final : public Statistic {
 public:
  /// has_moments: else mean and deviation are not asked for, which is quicker.
  explicit NumberStatistic(bool has_moments) : has_moments_(has_moments) {}

  std::uint64_t count() const { return count_; }
  /// NaN if all are NaN, as the following.
  double least() const { return count_ > 0 ? least_ : nan; }
  double largest() const { return count_ > 0 ? largest_ : nan; }
  double mean() const { return count_ > 0 ? ExactSum::mean(sum_, count_) : nan; }
  double deviation() const;  ///< of the whole: the sum of squares is divided by count()

  std::unique_ptr<Statistic> fresh() const override { return std::make_unique<NumberStatistic>(has_moments_); }
  void see(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  bool has_moments_;
  std::uint64_t count_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
  ExactSum sum_, squares_;
  std::vector<double> there_;  ///< of a batch, the values that are no NaN
};

}  // namespace trainrt::data
