#include "data/preprocess/binning.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <trainrt/error.hpp>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

Binning::Binning(const Parameters& given)
    : Columnwise(given),
      is_right_(given.get<bool>("right")),
      includes_lowest_(given.get<bool>("include_lowest")),
      drops_duplicates_(given.text("duplicates") == "drop") {}

void Binning::set_edges(std::vector<std::vector<double>> edges) {
  for (auto& each : edges) {
    if (drops_duplicates_) each.erase(std::unique(each.begin(), each.end()), each.end());
    if (each.size() < 2 || std::adjacent_find(each.begin(), each.end(), std::greater_equal<>()) != each.end())
      throw UsageError(
          "the edges of bins must be two or more strictly increasing numbers; set duplicates = drop to remove equal edges");
  }
  edges_ = std::move(edges);
}

void Binning::require(const Dataset::Field& field) const { require_number(field); }

Dataset::Field Binning::output(std::size_t, const Dataset::Field& from) const { return {from.name, DType::i64, {}, false}; }

void Binning::convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
  const auto& edges = edges_[at];
  const auto bin_of = [&](double value) -> std::int64_t {
    if (std::isnan(value)) return -1;
    if (includes_lowest_ && value == edges.front()) return 0;
    const auto above = is_right_ ? std::lower_bound(edges.begin(), edges.end(), value)
                                 : std::upper_bound(edges.begin(), edges.end(), value);
    return above == edges.end() ? -1 : above - edges.begin() - 1;
  };
  auto* const out = zeroed<std::int64_t>(to, samples);
  with_numbers(from.field.dtype, from.values, [&](auto values) {
    for (std::size_t i = 0; i < samples; ++i) out[i] = bin_of(static_cast<double>(values[i]));
  });
}

}  // namespace trainrt::data
