#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistic.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// (x - mean) / deviation, of the whole data.
class StandardScaler final : public Scaling {
 public:
  using Scaling::Scaling;
  std::vector<Wish> wishes(const Fields& fields) const override {
    return wish_each(fields, require_number, [](const auto&) { return std::make_unique<NumberStatistic>(true); });
  }
  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (const auto& each : found) {
      stats[stat_key("mean", each.column)] = json_number(as<NumberStatistic>(each).mean());
      stats[stat_key("std", each.column)] = json_number(as<NumberStatistic>(each).deviation());
    }
    return stats;
  }

 private:
  Scale scale(const nlohmann::json& stats, const std::string& column) const override {
    return {stat_number(stats, stat_key("mean", column)), stat_number(stats, stat_key("std", column))};
  }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind standard_scaler{
    .name = "StandardScaler",
    .help = "makes numbers of mean 0 and deviation 1",
    .parameters = "columns, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<StandardScaler>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
