#include "metrics/outputs/histogram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/small_floats.hpp"

namespace trainrt::metrics {

namespace {

constexpr std::size_t buckets = 64;
constexpr std::size_t block_elements = 1024;

/// Converts the elements of a tensor to double by `decode`, and passes them to `take` in blocks.
template <class T, class Decode, class Take>
void in_blocks(std::span<const std::byte> bytes, Decode decode, Take take) {
  const std::span elements(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  std::array<double, block_elements> values{};
  for (std::size_t at = 0; at < elements.size(); at += block_elements) {
    const auto block = elements.subspan(at, std::min(block_elements, elements.size() - at));
    for (std::size_t i = 0; i < block.size(); ++i) values[i] = static_cast<double>(decode(block[i]));
    take(std::span<const double>(values.data(), block.size()));
  }
}

template <class Take>
void for_values(DType dtype, std::span<const std::byte> bytes, Take take) {
  const auto unchanged = [](auto value) { return value; };
  switch (dtype) {
    case DType::f64:
      return in_blocks<double>(bytes, unchanged, take);
    case DType::f32:
      return in_blocks<float>(bytes, unchanged, take);
    case DType::f16:
      return in_blocks<std::uint16_t>(bytes, from_f16, take);
    case DType::bf16:
      return in_blocks<std::uint16_t>(bytes, from_bf16, take);
    case DType::f8e4m3:
      return in_blocks<std::uint8_t>(bytes, from_f8e4m3, take);
    case DType::f8e5m2:
      return in_blocks<std::uint8_t>(bytes, from_f8e5m2, take);
    case DType::i64:
      return in_blocks<std::int64_t>(bytes, unchanged, take);
    case DType::i32:
      return in_blocks<std::int32_t>(bytes, unchanged, take);
    case DType::i16:
      return in_blocks<std::int16_t>(bytes, unchanged, take);
    case DType::i8:
      return in_blocks<std::int8_t>(bytes, unchanged, take);
    case DType::u8:
      return in_blocks<std::uint8_t>(bytes, unchanged, take);
    case DType::boolean:
      return in_blocks<std::uint8_t>(
          bytes, [](std::uint8_t value) { return value != 0 ? 1 : 0; }, take);
  }
}

/// Accumulates minimum, maximum and sums of a tensor's values in independent lanes, which the compiler turns into vector
/// instructions.
struct Lanes {
  static constexpr std::size_t count = 8;
  using Values = std::array<double, count>;
  Values low, high, sum{}, squares{}, finite{};

  Lanes() {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
  }
  void add(std::size_t lane, double value) {
    const bool counts = value - value == 0;  // true if the value is neither NaN nor infinite
    const double number = counts ? value : 0;
    finite[lane] += counts ? 1 : 0;
    sum[lane] += number;
    squares[lane] += number * number;
    low[lane] = counts && value < low[lane] ? value : low[lane];
    high[lane] = counts && value > high[lane] ? value : high[lane];
  }
  void add(std::span<const double> values) {
    std::size_t at = 0;
    for (; at + count <= values.size(); at += count)
      for (std::size_t lane = 0; lane < count; ++lane) add(lane, values[at + lane]);
    for (; at < values.size(); ++at) add(0, values[at]);
  }
};

double total(const Lanes::Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Returns a histogram with minimum, maximum, sums and counts of the values, but without buckets.
Histogram sums_of(DType dtype, std::span<const std::byte> bytes) {
  Lanes lanes;
  for_values(dtype, bytes, [&](std::span<const double> values) { lanes.add(values); });
  Histogram found;
  found.count = static_cast<std::uint64_t>(total(lanes.finite));
  found.not_finite = bytes.size() / size_of(dtype) - found.count;
  found.sum = total(lanes.sum);
  found.sum_of_squares = total(lanes.squares);
  if (found.count == 0) return found;
  found.min = *std::ranges::min_element(lanes.low);
  found.max = *std::ranges::max_element(lanes.high);
  return found;
}

/// Counts `values` into the buckets of `histogram`. `edges` has the lower edge of the first bucket, followed by the upper
/// edge of each bucket.
void count_into(Histogram& histogram, const std::array<double, buckets + 1>& edges, std::span<const double> values) {
  const double scale = static_cast<double>(buckets) / (histogram.max - histogram.min);
  for (const double value : values) {
    if (!(value - value == 0)) continue;
    auto bucket = std::min(static_cast<std::size_t>((value - histogram.min) * scale), buckets - 1);
    if (value < edges[bucket])
      --bucket;  // the computed bucket is too high, because the product was rounded up
    else if (bucket + 1 < buckets && value >= edges[bucket + 1])
      ++bucket;
    ++histogram.in_bucket[bucket];
  }
}

}  // namespace

Histogram histogram_of(DType dtype, std::span<const std::byte> bytes) {
  auto found = sums_of(dtype, bytes);
  const double width = (found.max - found.min) / static_cast<double>(buckets);
  const bool can_be_split = width > 0 && std::isfinite(1 / width) && std::isfinite(width);
  if (!can_be_split) {
    found.upper_edges = {found.max};
    found.in_bucket = {found.count};
    return found;
  }
  std::array<double, buckets + 1> edges{};
  for (std::size_t i = 0; i < buckets; ++i) edges[i] = static_cast<double>(i) * width + found.min;
  edges[buckets] = found.max;
  found.upper_edges.assign(edges.begin() + 1, edges.end());
  found.in_bucket.assign(buckets, 0);
  for_values(dtype, bytes, [&](std::span<const double> values) { count_into(found, edges, values); });
  return found;
}

}  // namespace trainrt::metrics
