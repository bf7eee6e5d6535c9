#include <algorithm>
#include <cmath>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistic.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// x / max |x|.
class MaxAbsScaler final : public Scaling {
 public:
  using Scaling::Scaling;
  std::vector<Wish> wishes(const Fields& fields) const override {
    return wish_each(fields, require_number, [](const auto&) { return std::make_unique<NumberStatistic>(false); });
  }
  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (const auto& each : found) {
      const auto& numbers = as<NumberStatistic>(each);
      stats[stat_key("abs_max", each.column)] =
          json_number(std::max(std::fabs(numbers.least()), std::fabs(numbers.largest())));
    }
    return stats;
  }

 private:
  Scale scale(const nlohmann::json& stats, const std::string& column) const override {
    return {0, stat_number(stats, stat_key("abs_max", column))};
  }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind max_abs_scaler{
    .name = "MaxAbsScaler",
    .help = "divides numbers by the largest absolute one",
    .parameters = "columns, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<MaxAbsScaler>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
