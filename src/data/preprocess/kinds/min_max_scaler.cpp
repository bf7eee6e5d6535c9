#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"

namespace trainrt::data::plugins {

namespace {

class MinMaxScaler final : public Scaling {
 public:
  using Scaling::Scaling;

 private:
  std::unique_ptr<Statistic> statistic() const override { return std::make_unique<NumberStatistic>(false); }
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto& numbers = static_cast<const NumberStatistic&>(computed);
    stats[stat_key("min", columns()[at])] = json_number(numbers.min());
    stats[stat_key("max", columns()[at])] = json_number(numbers.max());
  }
  Scale scale(const ColumnStats& stats) const override {
    const auto min = stats.number("min");
    return {min, one_if_negligible(stats.number("max") - min)};
  }
};

}  // namespace

extern const PreprocessorKind min_max_scaler{.name = "MinMaxScaler",
                                             .help = "scale numbers to the range from 0 to 1: (x - min) / (max - min)",
                                             .stats = "min(COLUMN), max(COLUMN)",
                                             .parameters = MinMaxScaler::parameters,
                                             .make = make_preprocessing<MinMaxScaler>};

}  // namespace trainrt::data::plugins
