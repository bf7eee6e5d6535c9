#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <trainrt/tensor.hpp>

namespace trainrt::cli {

/// Statistics of the elements of a tensor. bool counts as 0 and 1.
struct TensorStatistics {
  using Number = std::variant<std::int64_t, double>;  ///< std::int64_t for integers and bool

  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zero = 0;
  // Statistics of the finite elements; nullopt if all elements are infinite or NaN.
  std::optional<Number> min, max;
  std::optional<double> mean;
  std::optional<double> deviation;  ///< standard deviation of the population
};

/// Computes TensorStatistics from pieces of a tensor. Sums are computed in double for each block of elements; blocks are
/// combined by the method of Chan, Golub and LeVeque ("Algorithms for computing the sample variance", 1983).
class StatisticsGatherer {
 public:
  explicit StatisticsGatherer(DType dtype) : dtype_(dtype) {}
  /// Adds elements. `bytes` must be aligned for their type.
  void add(std::span<const std::byte> bytes);
  /// Adds the elements of `other`, which must have the same type.
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
  double squares_ = 0;  ///< sum of the squared distances from the mean
};

}  // namespace trainrt::cli
