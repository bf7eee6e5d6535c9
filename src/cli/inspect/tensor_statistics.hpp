#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <trainrt/tensor.hpp>

namespace trainrt::cli {

/// What a tensor's elements are like. bool counts as 0 and 1.
struct TensorStatistics {
  using Number = std::variant<std::int64_t, double>;  ///< an integer of integers and bool

  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zero = 0;
  // Of the finite ones; nullopt if there is none.
  std::optional<Number> min, max;
  std::optional<double> mean;
  std::optional<double> deviation;  ///< the population's: the root of the mean squared distance from the mean
};

/// Gathers them from pieces of a tensor. Means and squares are summed up in double, over blocks that are put together as
/// Chan, Golub and LeVeque do it ("Algorithms for computing the sample variance", 1983).
class StatisticsGatherer {
 public:
  explicit StatisticsGatherer(DType dtype) : dtype_(dtype) {}
  /// Whole elements, aligned for their type.
  void add(std::span<const std::byte> bytes);
  /// Takes in what another has gathered of elements of the same type.
  void merge(const StatisticsGatherer& other);
  TensorStatistics result() const;

 private:
  template <class T, class Decode>
  void add_elements(std::span<const std::byte> bytes, Decode decode);
  template <class T, class Decode>
  void add_block(std::span<const T> block, Decode decode);
  void add_moments(std::uint64_t finite, double mean, double squares);

  DType dtype_;
  TensorStatistics found_;
  std::uint64_t finite_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances from the mean
};

}  // namespace trainrt::cli
