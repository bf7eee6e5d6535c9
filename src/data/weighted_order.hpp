#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt {
struct DatasetImpl;
}

namespace trainrt::data {

/// An order that draws samples in proportion to their weights, with repetition. Pure: what stands at a position hangs on
/// the seed and the position.
class WeightedOrder {
 public:
  /// `sums`: the weights added up, in the order of the samples; the last one is positive.
  WeightedOrder(std::shared_ptr<const std::vector<double>> sums, std::uint64_t seed)
      : sums_(std::move(sums)), seed_(seed) {}
  std::uint64_t operator[](std::uint64_t position) const;

 private:
  std::ptrdiff_t last_drawn() const;

  std::shared_ptr<const std::vector<double>> sums_;
  std::uint64_t seed_;
};

/// UsageError unless the field has one number a sample.
void require_weights(const Dataset::Field& field);

/// As Dataset::draw_by_weight() says.
void draw_by_weight(DatasetImpl& dataset, std::string_view field);
/// The same for the samples that there are now, if they are drawn by weight at all. Collective as that is.
void draw_again(DatasetImpl& dataset);

}  // namespace trainrt::data
