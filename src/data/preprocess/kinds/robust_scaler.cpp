#include <limits>

#include <trainrt/error.hpp>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"

namespace trainrt::data::plugins {

namespace {

class RobustScaler final : public Scaling {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      {"quantile_range", ParameterType::numbers,
       "the low and the high quantile, from 0 to 1; "
       "numbers are divided by the difference of these quantiles",
       "[0.25, 0.75]"},
      output_columns_parameter,
      {"quantile_precision", ParameterType::python_only, "has no effect: quantiles are exact", "800"}};

  explicit RobustScaler(const Parameters& given)
      : Scaling(given), range_(given.get<std::vector<double>>("quantile_range")) {
    if (range_.size() != 2 || !(0 <= range_[0] && range_[0] < range_[1] && range_[1] <= 1))
      throw UsageError("quantile_range must be two increasing numbers from 0 to 1, for example 0.25, 0.75");
  }

 private:
  std::unique_ptr<Statistic> statistic() const override {
    return std::make_unique<QuantileStatistic>(std::vector<double>{range_[0], 0.5, range_[1]});
  }
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto values = static_cast<const QuantileStatistic&>(computed).values();
    stats[stat_key("low_quantile", columns()[at])] = json_number(values[0]);
    stats[stat_key("median", columns()[at])] = json_number(values[1]);
    stats[stat_key("high_quantile", columns()[at])] = json_number(values[2]);
  }
  Scale scale(const ColumnStats& stats) const override {
    const auto range = stats.number("high_quantile") - stats.number("low_quantile");
    return {stats.number("median"), range == 0 ? std::numeric_limits<double>::infinity() : range};
  }
  std::vector<double> range_;
};

}  // namespace

extern const PreprocessorKind robust_scaler{
    .name = "RobustScaler",
    .help =
        "subtract the median and divide by the range between two quantiles, which outliers change little: "
        "(x - median) / (high - low); 0 if both quantiles are equal",
    .stats = "low_quantile(COLUMN), median(COLUMN), high_quantile(COLUMN)",
    .parameters = RobustScaler::parameters,
    .make = make_preprocessing<RobustScaler>};

}  // namespace trainrt::data::plugins
