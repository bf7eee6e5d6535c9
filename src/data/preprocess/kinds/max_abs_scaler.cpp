#include <algorithm>
#include <cmath>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"

namespace trainrt::data::plugins {

namespace {

class MaxAbsScaler final : public Scaling {
 public:
  using Scaling::Scaling;

 private:
  std::unique_ptr<Statistic> statistic() const override { return std::make_unique<NumberStatistic>(false); }
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto& numbers = static_cast<const NumberStatistic&>(computed);
    stats[stat_key("abs_max", columns()[at])] = json_number(std::max(std::fabs(numbers.min()), std::fabs(numbers.max())));
  }
  Scale scale(const ColumnStats& stats) const override { return {0, stats.number("abs_max")}; }
};

}  // namespace

extern const PreprocessorKind max_abs_scaler{.name = "MaxAbsScaler",
                                             .help = "divide numbers by their maximum absolute value: x / max |x|",
                                             .stats = "abs_max(COLUMN)",
                                             .parameters = MaxAbsScaler::parameters,
                                             .make = make_preprocessing<MaxAbsScaler>};

}  // namespace trainrt::data::plugins
