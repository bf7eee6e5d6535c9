#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/preprocess/category_statistic.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistic.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// Another value in place of NaN, and of empty texts: the mean, the most frequent one, or a constant.
class SimpleImputer final : public Columnwise {
 public:
  explicit SimpleImputer(Parameters& given)
      : Columnwise(given), strategy_(given.choice("strategy", {"mean", "most_frequent", "constant"}, "mean")) {
    const auto constant = given.any("fill_value");
    if ((strategy_ == "constant") == constant.is_null())
      throw UsageError("fill_value belongs to strategy = constant, which needs it");
    if (!constant.is_null()) fills_.assign(columns().size(), category_from(constant));
  }
  bool learns() const override { return strategy_ != "constant"; }

  std::vector<Wish> wishes(const Fields& fields) const override {
    if (strategy_ == "mean")
      return wish_each(fields, require_number, [](const auto&) { return std::make_unique<NumberStatistic>(true); });
    return wish_each(fields, require_fillable, [](const auto&) {
      return std::make_unique<CategoryStatistic>(CategoryStatistic::Of::values_if_there);
    });
  }

  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (const auto& each : found) {
      auto& stat = stats[stat_key(strategy_, each.column)];
      if (strategy_ == "mean") {
        stat = json_number(as<NumberStatistic>(each).mean());
      } else {
        const auto most = as<CategoryStatistic>(each).most_frequent(1);
        stat = most.empty() ? nlohmann::json() : json_of(most.front().value);
      }
    }
    return stats;
  }

  void set_stats(const nlohmann::json& stats) override {
    fills_.clear();
    for (const auto& column : columns()) {
      const auto key = stat_key(strategy_, column);
      const auto found = stats.find(key);
      if (found == stats.end()) throw UsageError(fmt::format("the stats have no '{}'", key));
      fills_.push_back(found->is_null() ? Category(std::numeric_limits<double>::quiet_NaN()) : category_from(*found));
    }
  }

 private:
  static void require_fillable(const Dataset::Field& field) {
    if (!is_text(field)) require_number(field);
  }

  static double number_in(const Category& fill) {
    const auto* const whole = std::get_if<std::int64_t>(&fill);
    return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(fill);
  }

  /// A config and a JSON may have the number of a column of numbers as a text.
  Category fill_of(std::size_t at, const Dataset::Field& field) const {
    const auto* const text = std::get_if<std::string>(&fills_[at]);
    if (text == nullptr || is_text(field)) return fills_[at];
    const auto number = parse_real(*text);
    return number ? Category(*number) : fills_[at];
  }

  Dataset::Field made(std::size_t at, const Dataset::Field& from) const override {
    require_fillable(from);
    const auto fill = fill_of(at, from);
    const bool fills_texts = std::holds_alternative<std::string>(fill);
    if (!fills_texts && std::isnan(number_in(fill)))
      throw UsageError(fmt::format("column '{}' has no fill value: all that fit() has seen were missing", columns()[at]));
    if (fills_texts != is_text(from))
      throw UsageError(fmt::format("column '{}' holds {}, and the fill value is {}", from.name,
                                   is_text(from) ? "texts" : "numbers", words_of(fill)));
    return from;
  }

  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    if (is_text(from.field)) return fill_texts(std::get<std::string>(fills_[at]), from, samples, to);
    if (!is_real(from.field.dtype)) {
      to.values = from.values;
      return;
    }
    const auto fill = number_in(fill_of(at, from.field));
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
  std::vector<Category> fills_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind simple_imputer{
    .name = "SimpleImputer",
    .help = "fills in missing values: the mean, the most frequent one, or a constant",
    .parameters = "columns, strategy (mean, most_frequent, constant), fill_value, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<SimpleImputer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
