#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/preprocess/category.hpp"
#include "data/preprocess/statistic.hpp"

namespace trainrt::data {

/// How often each value of a column is there. More than `most` values, or 1 GiB of them, are a UsageError.
class CategoryStatistic final : public Statistic {
 public:
  enum class Of : std::uint8_t {
    values,           ///< one a sample; a missing one (NaN) is a UsageError
    values_if_there,  ///< the same, and missing ones (NaN, empty texts) are left out
    elements,         ///< of arrays and lists of numbers
    tokens,           ///< of texts
  };
  struct Counted {
    Category value;
    std::uint64_t count;
  };
  static constexpr std::size_t most = std::size_t{1} << 24;

  explicit CategoryStatistic(Of of) : of_(of) {}
  /// All, in the order of the values.
  std::vector<Counted> by_value() const;
  /// The `limit` most frequent ones; of those that are as frequent, the first by value.
  std::vector<Counted> most_frequent(std::size_t limit) const;

  std::unique_ptr<Statistic> fresh() const override { return std::make_unique<CategoryStatistic>(of_); }
  void see(const Table::Column& column) override;
  void write(PackedWriter& into) const override;
  void merge(PackedReader& from) override;

 private:
  void count(const Category& value, std::uint64_t times);

  Of of_;
  ByCategory<std::uint64_t> counts_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainrt::data
