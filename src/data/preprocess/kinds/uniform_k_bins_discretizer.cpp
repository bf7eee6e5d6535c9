#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/binning.hpp"
#include "data/preprocess/number_statistic.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// The number of a bin, of as many as wanted, which are equally wide.
class UniformKBinsDiscretizer final : public Binning {
 public:
  explicit UniformKBinsDiscretizer(Parameters& given) : Binning(given) {
    bins_ = of_each_column<std::size_t>(given.any("bins"), columns(), [](const nlohmann::json& value) {
      constexpr std::int64_t most = 1 << 16;
      Parameters bins(nlohmann::json::object({{"bins", value}}));
      return static_cast<std::size_t>(bins.whole("bins", 1, most));
    });
  }
  std::vector<Wish> wishes(const Fields& fields) const override {
    return wish_each(fields, require_number, [](const auto&) { return std::make_unique<NumberStatistic>(false); });
  }

  /// Ray's edges: numpy.linspace() from the least to the largest value, widened by a thousandth at the open end.
  nlohmann::json learned(std::span<const Wish> found) const override {
    auto stats = nlohmann::json::object();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& numbers = as<NumberStatistic>(found[i]);
      if (numbers.count() == 0)
        throw UsageError(fmt::format("column '{}' has no values but NaN: there are no bins", found[i].column));
      stats[found[i].column] = edges_between(numbers.least(), numbers.largest(), bins_[i]);
    }
    return stats;
  }

  void set_stats(const nlohmann::json& stats) override {
    std::vector<std::vector<double>> edges;
    for (const auto& column : columns()) {
      const auto found = stats.find(column);
      if (found == stats.end() || !found->is_array()) throw UsageError(fmt::format("the stats need '{}', a list", column));
      Parameters list(nlohmann::json::object({{"edges", *found}}));
      edges.push_back(list.numbers("edges", {}));
    }
    set_edges(std::move(edges));
  }

 private:
  std::vector<double> edges_between(double least, double largest, std::size_t bins) const {
    constexpr double part = 0.001;
    const bool is_one_value = least == largest;
    if (is_one_value) {
      const auto widened = least == 0 ? part : part * std::fabs(least);
      least -= widened;
      largest += widened;
    }
    std::vector<double> edges;
    const auto step = (largest - least) / static_cast<double>(bins);
    for (std::size_t i = 0; i < bins; ++i) edges.push_back(static_cast<double>(i) * step + least);
    edges.push_back(largest);
    if (!is_one_value && is_right()) edges.front() -= (largest - least) * part;
    if (!is_one_value && !is_right()) edges.back() += (largest - least) * part;
    return edges;
  }

  std::vector<std::size_t> bins_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind uniform_k_bins_discretizer{
    .name = "UniformKBinsDiscretizer",
    .help = "makes the number of a bin, of equally wide ones",
    .parameters = "columns, bins, right, include_lowest, duplicates (raise, drop), output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> {
      return std::make_unique<UniformKBinsDiscretizer>(given);
    }};

}  // namespace plugins

}  // namespace trainrt::data
