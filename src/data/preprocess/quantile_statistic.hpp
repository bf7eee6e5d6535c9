#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "data/preprocess/statistic.hpp"

namespace trainrt::data {

/// Exact quantiles of a column of numbers, but NaN: the two values around the place q * (count - 1) in their order, and
/// between them linearly, as NumPy's. Found in four passes, each of which counts values by 16 more bits (a radix
/// selection), so that memory is 512 KiB for each value that is looked for, however many samples there are.
class QuantileStatistic final : public Statistic {
 public:
  explicit QuantileStatistic(std::vector<double> quantiles) : quantiles_(std::move(quantiles)) { counts_[0]; }
  /// After the last pass, in the order of the quantiles; NaN if all values are.
  std::vector<double> values() const;

  std::unique_ptr<Statistic> fresh() const override;
  void see(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;
  bool begin_next_pass() override;

 private:
  /// A value that is looked for: its first bits, and its place among the values that begin with them.
  struct Wanted {
    std::uint64_t prefix = 0;
    std::uint64_t place = 0;
  };
  void see(double value);
  void choose_places();

  std::vector<double> quantiles_;
  int pass_ = 0;
  std::uint64_t count_ = 0;                                     ///< known after the first pass
  std::vector<Wanted> wanted_;                                  ///< two for each quantile
  std::map<std::uint64_t, std::vector<std::uint64_t>> counts_;  ///< by the prefix, by the next 16 bits
};

}  // namespace trainrt::data
