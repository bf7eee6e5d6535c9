#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/preprocess/category.hpp"
#include "data/preprocess/columnwise.hpp"

namespace trainrt::data {

/// The categories of one column that a fit found, numbered from 0 in sorted order.
class Categories {
 public:
  Categories() = default;
  /// Throws UsageError if a value occurs twice.
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

/// Base of preprocessors that learn the categories of their columns. The fit of each column gives the result
/// "unique_values(COLUMN)", a sorted list.
class Encoding : public Columnwise {
 public:
  using Columnwise::Columnwise;
  void set_stats(const nlohmann::json& stats) final;

 protected:
  const Categories& categories(std::size_t at) const { return categories_[at]; }
  void require(const Dataset::Field& field) const override;  ///< accepts numbers and texts
  std::unique_ptr<Statistic> statistic() const override {
    return std::make_unique<CategoryStatistic>(CategoryStatistic::Of::values);
  }
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override;
  virtual std::string_view stat_name() const { return "unique_values"; }
  virtual Category category_of_stat(const nlohmann::json& json) const { return category_from(json); }
  /// Returns the categories of a column that the preprocessor keeps, sorted.
  virtual std::vector<CategoryStatistic::Counted> kept(std::size_t, const CategoryStatistic& computed) const {
    return computed.by_value();
  }

 private:
  std::vector<Categories> categories_;
};

/// Replaces each value by the number of its category, as i64. NaN and unknown values become Categories::unknown.
class Numbering : public Encoding {
 public:
  using Encoding::Encoding;

 protected:
  Dataset::Field output(std::size_t at, const Dataset::Field& from) const final;
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;

 private:
  /// Returns whether convert() throws UsageError for a value that the fit did not find.
  virtual bool refuses_unknown() const { return false; }
};

/// An encoding that keeps only the most frequent categories of a column. The parameter `max_categories` sets the number
/// per column: {"city": 10}.
class LimitedEncoding : public Encoding {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      keyword_only({"max_categories", ParameterType::category_limits,
                    "number of most frequent categories to keep for a column; other columns keep all", "null"}),
      output_columns_parameter};

  explicit LimitedEncoding(const Parameters& given);

 protected:
  std::vector<CategoryStatistic::Counted> kept(std::size_t at, const CategoryStatistic& computed) const final;

 private:
  std::vector<std::size_t> limits_;  ///< maximum number of categories of each of columns()
};

}  // namespace trainrt::data
