#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/preprocess/category_statistic.hpp"
#include "data/preprocess/columnwise.hpp"

namespace trainrt::data {

/// The values of one column that fit() has found, each with its number, from 0 on in their order.
class Categories {
 public:
  Categories() = default;
  explicit Categories(std::vector<Category> values);
  std::size_t size() const { return numbers_.size(); }
  static constexpr std::int64_t unknown = -1;
  std::int64_t number_of(const Category& value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? unknown : found->second;
  }

 private:
  ByCategory<std::int64_t> numbers_;
};

/// One that learns the categories of its columns: the stat "unique_values(COLUMN)", a list of them.
class Encoding : public Columnwise {
 public:
  using Columnwise::Columnwise;
  std::vector<Wish> wishes(const Fields& fields) const override;
  nlohmann::json learned(std::span<const Wish> found) const override;
  void set_stats(const nlohmann::json& stats) final;

 protected:
  const Categories& categories(std::size_t at) const { return categories_[at]; }
  /// Of which values, and what their column has to be.
  virtual CategoryStatistic::Of of() const { return CategoryStatistic::Of::values; }
  virtual void require(const Dataset::Field& field) const { require_category(field); }
  /// Those that are kept of what was found, in their order.
  virtual std::vector<CategoryStatistic::Counted> kept(const std::string& column, const CategoryStatistic& found) const;
  virtual std::string_view stat_name() const { return "unique_values"; }
  virtual nlohmann::json json_of_kept(const CategoryStatistic::Counted& kept) const { return json_of(kept.value); }
  virtual Category category_of_kept(const nlohmann::json& json) const { return category_from(json); }
  static void require_category(const Dataset::Field& field);

 private:
  std::vector<Categories> categories_;
};

/// {"a": 10}: how many of a column's categories are kept, the most frequent ones.
using CategoryLimits = std::vector<std::pair<std::string, std::size_t>>;
CategoryLimits limits_from(const nlohmann::json& json, const std::vector<std::string>& columns);

/// Those of a column that the limits let be kept, in the order of the values.
std::vector<CategoryStatistic::Counted> most_frequent_by_value(const CategoryLimits& limits, const std::string& column,
                                                               const CategoryStatistic& found);

}  // namespace trainrt::data
