#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"

namespace trainrt::data::plugins {

namespace {

class StandardScaler final : public Scaling {
 public:
  using Scaling::Scaling;

 private:
  std::unique_ptr<Statistic> statistic() const override { return std::make_unique<NumberStatistic>(true); }
  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto& numbers = static_cast<const NumberStatistic&>(computed);
    stats[stat_key("mean", columns()[at])] = json_number(numbers.mean());
    stats[stat_key("std", columns()[at])] = json_number(numbers.deviation());
  }
  Scale scale(const ColumnStats& stats) const override {
    return {stats.number("mean"), one_if_negligible(stats.number("std"))};
  }
};

}  // namespace

extern const PreprocessorKind standard_scaler{
    .name = "StandardScaler",
    .help = "scale numbers to mean 0 and standard deviation 1: (x - mean) / std, with the population's standard deviation",
    .stats = "mean(COLUMN), std(COLUMN)",
    .parameters = StandardScaler::parameters,
    .make = make_preprocessing<StandardScaler>};

}  // namespace trainrt::data::plugins
