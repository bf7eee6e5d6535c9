#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistic.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// (x - min) / (max - min).
class MinMaxScaler final : public Scaling {
 public:
  using Scaling::Scaling;
  std::vector<Wish> wishes(const Fields& fields) const override {
    return wish_each(fields, require_number, [](const auto&) { return std::make_unique<NumberStatistic>(false); });
  }
  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (const auto& each : found) {
      stats[stat_key("min", each.column)] = json_number(as<NumberStatistic>(each).least());
      stats[stat_key("max", each.column)] = json_number(as<NumberStatistic>(each).largest());
    }
    return stats;
  }

 private:
  Scale scale(const nlohmann::json& stats, const std::string& column) const override {
    const auto least = stat_number(stats, stat_key("min", column));
    return {least, stat_number(stats, stat_key("max", column)) - least};
  }
};

}  // namespace

namespace plugins {

extern const PreprocessorKind min_max_scaler{
    .name = "MinMaxScaler",
    .help = "makes numbers from 0 to 1, of the least and the largest",
    .parameters = "columns, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<MinMaxScaler>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
