#include "data/preprocess/binning.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/number_statistics.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

class Binning final : public Columnwise {
 public:
  Binning(const Parameters& given, std::int64_t max_bins)
      : Columnwise(given),
        is_right_(given.get<bool>("right")),
        includes_lowest_(given.get<bool>("include_lowest")),
        drops_duplicates_(given.text("duplicates") == "drop") {
    const auto& bins = given.json("bins");
    for (const auto& column : columns()) {
      if (bins.is_object() && !bins.contains(column)) throw UsageError("bins has no value for the column '" + column + "'");
      const auto& own = bins.is_object() ? bins.at(column) : bins;
      if (max_bins > 0)
        bins_.push_back(integer_from("bins", own, max_bins));
      else
        add_edges(numbers_from("bins", own));
    }
  }

  void set_stats(const nlohmann::json& stats) override {
    edges_.clear();
    for (const auto& column : columns()) add_edges(numbers_from(column, ColumnStats{stats, column}.list("")));
  }

 private:
  /// Appends the edges of the next column's bins. Throws UsageError unless they increase strictly.
  void add_edges(std::vector<double> edges) {
    if (drops_duplicates_) edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    if (edges.size() < 2 || std::ranges::adjacent_find(edges, std::greater_equal<>()) != edges.end())
      throw UsageError(
          "the edges of bins must be two or more strictly increasing numbers; set duplicates = drop to remove equal edges");
    edges_.push_back(std::move(edges));
  }

  std::unique_ptr<Statistic> statistic() const override {
    return bins_.empty() ? nullptr : std::make_unique<NumberStatistic>(false);
  }

  void add_stats(std::size_t at, const Statistic& computed, nlohmann::json& stats) const override {
    const auto& numbers = static_cast<const NumberStatistic&>(computed);
    if (numbers.count() == 0)
      throw UsageError(
          fmt::format("Column {} has no values to bin. Check the data used to fit the discretizer: the column has only NaN",
                      columns()[at]));
    stats[columns()[at]] = edges_between(numbers.min(), numbers.max(), bins_[at]);
  }

  /// Returns the same edges as Ray Data: numpy.linspace() from `min` to `max`. The edge at the open end of the first or
  /// last bin is moved outwards by 0.1 % of the range.
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
    if (!is_constant && is_right_) edges.front() -= (max - min) * margin;
    if (!is_constant && !is_right_) edges.back() += (max - min) * margin;
    return edges;
  }

  Dataset::Field output(std::size_t, const Dataset::Field& from) const override {
    return {from.name, DType::i64, {}, false};
  }

  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto& edges = edges_[at];
    const auto bin_of = [&](double value) -> std::int64_t {
      if (std::isnan(value)) return -1;
      if (includes_lowest_ && value == edges.front()) return 0;
      const auto above = is_right_ ? std::ranges::lower_bound(edges, value) : std::ranges::upper_bound(edges, value);
      return above == edges.end() ? -1 : above - edges.begin() - 1;
    };
    auto* const out = zeroed<std::int64_t>(to, samples);
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      for (std::size_t i = 0; i < samples; ++i) out[i] = bin_of(static_cast<double>(values[i]));
    });
  }

  bool is_right_, includes_lowest_, drops_duplicates_;
  std::vector<std::int64_t> bins_;          ///< number of bins of each column; empty if the parameter `bins` has the edges
  std::vector<std::vector<double>> edges_;  ///< edges of the bins of each column
};

}  // namespace

std::unique_ptr<Preprocessing> make_binning(const Parameters& given, std::int64_t max_bins) {
  return std::make_unique<Binning>(given, max_bins);
}

}  // namespace trainrt::data
