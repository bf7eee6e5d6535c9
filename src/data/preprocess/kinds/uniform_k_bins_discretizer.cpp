#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/binning.hpp"
#include "data/preprocess/number_statistics.hpp"

namespace trainrt::data::plugins {

namespace {

class UniformKBinsDiscretizer final : public Binning {
 public:
  static constexpr auto parameters =
      binning_parameters({.name = "bins",
                          .type = ParameterType::integer_per_column,
                          .help = "the number of bins, for all columns or for each column by name",
                          .max = 1 << 16});
  explicit UniformKBinsDiscretizer(const Parameters& given) : Binning(given) {
    bins_ = bins_per_column(given.json("bins"), columns(),
                            [](const auto& value) { return integer_from("bins", value, parameters[1].max); });
  }

  void set_stats(const nlohmann::json& stats) override {
    std::vector<std::vector<double>> edges;
    for (const auto& column : columns()) edges.push_back(numbers_from(column, ColumnStats{stats, column}.list("")));
    set_edges(std::move(edges));
  }

 private:
  std::unique_ptr<Statistic> statistic() const override { return std::make_unique<NumberStatistic>(false); }

  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto& numbers = static_cast<const NumberStatistic&>(computed);
    if (numbers.count() == 0)
      throw UsageError(
          fmt::format("Column {} has no values to bin. Check the data used to fit the discretizer: the column has only NaN",
                      columns()[at]));
    stats[columns()[at]] = edges_between(numbers.min(), numbers.max(), bins_[at]);
  }

  /// Returns the same edges as Ray: numpy.linspace() from `min` to `max`. The edge of the open end is moved outwards by
  /// 0.1 % of the range.
  std::vector<double> edges_between(double min, double max, std::int64_t bins) const {
    constexpr double margin = 0.001;
    const bool is_constant = min == max;
    if (is_constant) {
      const auto half = min == 0 ? margin : margin * std::fabs(min);
      min -= half;
      max += half;
    }
    std::vector<double> edges;
    const auto step = (max - min) / static_cast<double>(bins);
    for (std::int64_t i = 0; i < bins; ++i) edges.push_back(static_cast<double>(i) * step + min);
    edges.push_back(max);
    if (!is_constant && is_right()) edges.front() -= (max - min) * margin;
    if (!is_constant && !is_right()) edges.back() += (max - min) * margin;
    return edges;
  }

  std::vector<std::int64_t> bins_;
};

}  // namespace

extern const PreprocessorKind uniform_k_bins_discretizer{
    .name = "UniformKBinsDiscretizer",
    .help =
        "replace each number by the number of its bin, "
        "from 0, as i64, with bins of equal width between minimum and maximum; NaN and numbers outside all bins become -1",
    .stats = "COLUMN (the edges of its bins)",
    .parameters = UniformKBinsDiscretizer::parameters,
    .make = make_preprocessing<UniformKBinsDiscretizer>};

}  // namespace trainrt::data::plugins
