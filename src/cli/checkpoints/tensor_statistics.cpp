#include "cli/checkpoints/tensor_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/checkpoints/tensor_elements.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t block_elements = 4096;

template <class N>
void widen(std::optional<TensorStatistics::Number>& min, std::optional<TensorStatistics::Number>& max, N low, N high) {
  if (!min || low < std::get<N>(*min)) min = low;
  if (!max || high > std::get<N>(*max)) max = high;
}

}  // namespace

template <class T, class Decode>
void StatisticsGatherer::add_block(std::span<const T> block, Decode decode) {
  using N = decltype(decode(T{}));  // double, or std::int64_t
  N low = std::numeric_limits<N>::max();
  N high = std::numeric_limits<N>::lowest();
  std::uint64_t finite = 0;
  double sum = 0;
  for (const T element : block) {
    const N number = decode(element);
    if constexpr (std::is_same_v<N, double>)
      if (!std::isfinite(number)) {
        ++(std::isnan(number) ? found_.nan : found_.infinite);
        continue;
      }
    ++finite;
    found_.zero += number == 0 ? 1 : 0;
    sum += static_cast<double>(number);
    low = std::min(low, number);
    high = std::max(high, number);
  }
  found_.count += block.size();
  if (finite == 0) return;
  widen(found_.min, found_.max, low, high);
  const double mean = sum / static_cast<double>(finite);
  double squares = 0;
  for (const T element : block) {
    const auto distance = static_cast<double>(decode(element)) - mean;
    if (std::isfinite(distance)) squares += distance * distance;
  }
  add_moments(finite, mean, squares);
}

template <class T, class Decode>
void StatisticsGatherer::add_elements(std::span<const std::byte> bytes, Decode decode) {
  const std::span elements(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  for (std::size_t at = 0; at < elements.size(); at += block_elements)
    add_block<T>(elements.subspan(at, std::min(block_elements, elements.size() - at)), decode);
}

void StatisticsGatherer::add_moments(std::uint64_t finite, double mean, double squares) {
  const auto all = static_cast<double>(finite_ + finite);
  const double apart = mean - mean_;
  mean_ += apart * (static_cast<double>(finite) / all);
  squares_ += squares + apart * apart * (static_cast<double>(finite_) * static_cast<double>(finite) / all);
  finite_ += finite;
}

void StatisticsGatherer::merge(const StatisticsGatherer& other) {
  found_.count += other.found_.count;
  found_.nan += other.found_.nan;
  found_.infinite += other.found_.infinite;
  found_.zero += other.found_.zero;
  if (other.finite_ == 0) return;
  if (!found_.min || *other.found_.min < *found_.min) found_.min = other.found_.min;
  if (!found_.max || *other.found_.max > *found_.max) found_.max = other.found_.max;
  add_moments(other.finite_, other.mean_, other.squares_);
}

void StatisticsGatherer::add(std::span<const std::byte> bytes) {
  with_element_type(dtype_, [&]<class T>(T, auto decode) { add_elements<T>(bytes, decode); });
}

TensorStatistics StatisticsGatherer::result() const {
  auto result = found_;
  if (finite_ == 0) return result;
  result.mean = mean_;
  result.deviation = std::sqrt(squares_ / static_cast<double>(finite_));
  return result;
}

}  // namespace trainrt::cli
