#include <trainrt/error.hpp>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"
#include "data/preprocess/quantile_statistic.hpp"

namespace trainrt::data {

namespace {

/// (x - median) / (high quantile - low quantile).
class RobustScaler final : public Scaling {
 public:
  explicit RobustScaler(Parameters& given) : Scaling(given), range_(given.numbers("quantile_range", {0.25, 0.75})) {
    if (range_.size() != 2 || !(0 <= range_[0] && range_[0] < range_[1] && range_[1] <= 1))
      throw UsageError("quantile_range must be two numbers, from 0 to 1, of which the first is less: 0.25, 0.75");
  }
  std::vector<Wish> wishes(const Fields& fields) const override {
    return wish_each(fields, require_number, [this](const auto&) {
      return std::make_unique<QuantileStatistic>(std::vector<double>{range_[0], 0.5, range_[1]});
    });
  }
  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (const auto& each : found) {
      const auto values = as<QuantileStatistic>(each).values();
      stats[stat_key("low_quantile", each.column)] = json_number(values[0]);
      stats[stat_key("median", each.column)] = json_number(values[1]);
      stats[stat_key("high_quantile", each.column)] = json_number(values[2]);
    }
    return stats;
  }

 private:
  Scale scale(const nlohmann::json& stats, const std::string& column) const override {
    return {stat_number(stats, stat_key("median", column)),
            stat_number(stats, stat_key("high_quantile", column)) - stat_number(stats, stat_key("low_quantile", column))};
  }
  std::vector<double> range_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind robust_scaler{
    .name = "RobustScaler",
    .help = "takes the median away and divides by the range between two quantiles: outliers change little",
    .parameters = "columns, quantile_range, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<RobustScaler>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
