#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/preprocess/category.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"
#include "data/preprocess/numbers.hpp"
#include "data/text/in_context.hpp"

namespace trainrt::data::plugins {

namespace {

class SimpleImputer final : public Columnwise {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      {"strategy", ParameterType::choice,
       "the new value: mean, most_frequent (the first in sorted order, if several are equally frequent) or constant",
       "\"mean\"", "mean, most_frequent, constant"},
      {"fill_value", ParameterType::scalar, "the new value for strategy = constant; not allowed for other strategies",
       "null"},
      keyword_only(output_columns_parameter)};

  explicit SimpleImputer(const Parameters& given) : Columnwise(given), strategy_(given.text("strategy")) {
    const auto& constant = given.json("fill_value");
    if ((strategy_ == "constant") == constant.is_null())
      throw UsageError(constant.is_null() ? "missing parameter fill_value, which strategy = constant needs"
                                          : "fill_value is only valid with strategy = constant");
    if (!constant.is_null()) fills_.assign(columns().size(), category_from(constant));
  }

  void set_stats(const nlohmann::json& stats) override {
    fills_.clear();
    for (const auto& column : columns()) {
      const auto& fill = ColumnStats{stats, column}.value(strategy_);
      fills_.push_back(fill.is_null() ? Category(std::numeric_limits<double>::quiet_NaN()) : category_from(fill));
    }
  }

 private:
  std::unique_ptr<Statistic> statistic() const override {
    if (strategy_ == "constant") return nullptr;
    if (strategy_ == "mean") return std::make_unique<NumberStatistic>(true);
    return std::make_unique<CategoryStatistic>(CategoryStatistic::Of::non_missing);
  }

  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    auto& stat = stats[stat_key(strategy_, columns()[at])];
    if (strategy_ == "mean") {
      stat = json_number(static_cast<const NumberStatistic&>(computed).mean());
    } else if (const auto most = static_cast<const CategoryStatistic&>(computed).most_frequent(1); !most.empty()) {
      in_context(fmt::format("column '{}'", columns()[at]), [&] { stat = json_of(most.front().value); });
    }
  }

  void require(const Dataset::Field& field) const override {
    if (strategy_ == "mean" || !is_text(field)) require_number(field);
  }

  /// Returns the value that replaces missing values in the column with the index `at`. For a column of numbers, a text is
  /// converted to a number if possible, because all values in a config file are texts.
  Category fill_of(std::size_t at, const Dataset::Field& field) const {
    const auto* const text = std::get_if<std::string>(&fills_[at]);
    if (text == nullptr || is_text(field)) return fills_[at];
    const auto number = parse_real(*text);
    return number ? Category(*number) : fills_[at];
  }

  Dataset::Field output(std::size_t at, const Dataset::Field& from) const override {
    const auto fill = fill_of(at, from);
    const bool fills_texts = std::holds_alternative<std::string>(fill);
    if (!fills_texts && std::isnan(as_double(fill)))
      throw UsageError(fmt::format(
          "Column {} has no fill value. Check the data used to fit the SimpleImputer: all its values were missing",
          columns()[at]));
    if (fills_texts != is_text(from))
      throw UsageError(fmt::format("column '{}' contains {}, but the fill value is {}", from.name,
                                   is_text(from) ? "texts" : "numbers", quoted(fill)));
    return from;
  }

  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    if (is_text(from.field)) return fill_texts(std::get<std::string>(fills_[at]), from, samples, to);
    if (from.field.dtype != DType::f64 && from.field.dtype != DType::f32) {
      to.values = from.values;
      return;
    }
    const auto fill = as_double(fill_of(at, from.field));
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      fill_reals(to, samples, [&](std::size_t i) {
        const auto value = static_cast<double>(values[i]);
        return std::isnan(value) ? fill : value;
      });
    });
  }

  static void fill_texts(const std::string& fill, const Table::Column& from, std::uint64_t samples, Table::Column& to) {
    for (std::size_t i = 0; i < samples; ++i) {
      const auto text = text_at(from, i);
      const auto bytes = std::as_bytes(std::span(text.empty() ? std::string_view(fill) : text));
      to.values.insert(to.values.end(), bytes.begin(), bytes.end());
      to.ends.push_back(to.values.size());
    }
  }

  std::string strategy_;
  std::vector<Category> fills_;  ///< for each of columns(), the value that replaces missing values
};

}  // namespace

extern const PreprocessorKind simple_imputer{
    .name = "SimpleImputer",
    .help = "replace missing values (NaN, empty texts) by the mean, the most frequent value or a constant",
    .stats = "mean(COLUMN) or most_frequent(COLUMN)",
    .parameters = SimpleImputer::parameters,
    .make = make_preprocessing<SimpleImputer>};

}  // namespace trainrt::data::plugins
