#include "data/images/resample.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

namespace trainrt::data {

namespace {

constexpr int weight_bits = 22;

template <class T>
using WeightOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, float>;

template <class T>
WeightOf<T> to_weight(double weight) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<std::int32_t>(std::floor(weight * (1 << weight_bits) + 0.5));  // weights are never negative
  else
    return static_cast<float>(weight);
}

/// The weights for resizing an image along one axis. Each new value is the weighted sum of some consecutive old values.
template <class T>
struct Weights {
  struct Taps {
    std::size_t first = 0, count = 0;
  };
  std::size_t stride = 0;  ///< number of weights stored per new value: the maximum number of old values in a sum
  std::vector<Taps> taps;
  std::vector<WeightOf<T>> weights;
};

/// Returns the weights for resizing along an axis, which are the same as those of Pillow's precompute_coeffs(). The axis
/// has `extent` pixels; its part from `begin` to `end` becomes `size` pixels.
template <class T>
Weights<T> weights_along(std::size_t extent, float begin, float end, std::size_t size) {
  const auto scale = static_cast<double>(end - begin) / static_cast<double>(size), reach = std::max(scale, 1.0);
  Weights<T> found;
  found.stride = static_cast<std::size_t>(std::ceil(reach)) * 2 + 1;
  found.taps.resize(size);
  found.weights.resize(size * found.stride);
  std::vector<double> exact(found.stride);
  for (std::size_t i = 0; i < size; ++i) {
    const auto center = static_cast<double>(begin) + (static_cast<double>(i) + 0.5) * scale;
    const auto first = static_cast<std::size_t>(std::max(0.0, center - reach + 0.5));
    const auto last = std::min(extent, static_cast<std::size_t>(std::max(0.0, center + reach + 0.5)));  // exclusive
    double sum = 0;
    for (auto at = first; at < last; ++at) {
      const auto distance = std::abs((static_cast<double>(at) - center + 0.5) * (1.0 / reach));
      sum += exact[at - first] = distance < 1.0 ? 1.0 - distance : 0.0;
    }
    found.taps[i] = {first, last - first};
    for (std::size_t tap = 0; tap < last - first; ++tap)
      found.weights[i * found.stride + tap] = to_weight<T>(sum == 0 ? exact[tap] : exact[tap] / sum);
  }
  return found;
}

inline std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255)); }
inline float rounded(float sum) { return sum; }

/// The initial value of a sum of weighted values. For u8, the sum begins with one half, so that the truncation in rounded()
/// rounds to the nearest integer.
template <class T>
constexpr auto half = static_cast<WeightOf<T>>(std::is_same_v<T, std::uint8_t> ? 1 << (weight_bits - 1) : 0);

template <std::size_t channels, class T>
void resize_row(const T* from, const Weights<T>& weights, T* to) {
  const auto* weight = weights.weights.data();
  for (const auto& [first, count] : weights.taps) {
    WeightOf<T> sums[channels];
    std::fill_n(sums, channels, half<T>);
    const auto* pixel = from + first * channels;
    for (std::size_t tap = 0; tap < count; ++tap, pixel += channels)
      for (std::size_t channel = 0; channel < channels; ++channel)
        sums[channel] += static_cast<WeightOf<T>>(pixel[channel]) * weight[tap];
    for (std::size_t channel = 0; channel < channels; ++channel) *to++ = rounded(sums[channel]);
    weight += weights.stride;
  }
}

template <class T>
void resize_row(std::size_t channels, const T* from, const Weights<T>& weights, T* to) {
  if (channels == 1) return resize_row<1>(from, weights, to);
  if (channels == 2) return resize_row<2>(from, weights, to);
  if (channels == 3) return resize_row<3>(from, weights, to);
  resize_row<4>(from, weights, to);
}

/// Computes one new row of `row` values from `count` consecutive rows.
template <class T>
void blend_rows(const T* rows, std::size_t row, std::size_t count, const WeightOf<T>* weights, T* to) {
  constexpr std::size_t block = 256;
  for (std::size_t first = 0; first < row; first += block) {
    const auto values = std::min(block, row - first);
    WeightOf<T> sums[block];
    std::fill_n(sums, values, half<T>);
    for (std::size_t tap = 0; tap < count; ++tap) {
      const auto* const from = rows + tap * row + first;
      const auto weight = weights[tap];
      for (std::size_t i = 0; i < values; ++i) sums[i] += static_cast<WeightOf<T>>(from[i]) * weight;
    }
    for (std::size_t i = 0; i < values; ++i) to[first + i] = rounded(sums[i]);
  }
}

bool is_same_axis(float begin, float end, std::size_t extent, std::size_t size) {
  return begin == 0 && end == static_cast<float>(extent) && size == extent;
}

/// Resizes in both directions with bounded memory: keeps only one resized row at a time. An old row is therefore resized
/// again for every new row to which it contributes. The results equal those of resize_columns().
template <class T>
void resize_row_by_row(const T* from, const Extent& extent, const Weights<T>& across, const Weights<T>& down, T* to) {
  const auto row_values = across.taps.size() * extent.channels;
  std::vector<T> row(row_values);
  std::vector<WeightOf<T>> sums(row_values);
  for (std::size_t y = 0; y < down.taps.size(); ++y) {
    std::fill(sums.begin(), sums.end(), half<T>);
    for (std::size_t tap = 0; tap < down.taps[y].count; ++tap) {
      resize_row(extent.channels, from + (down.taps[y].first + tap) * extent.width * extent.channels, across, row.data());
      const auto weight = down.weights[y * down.stride + tap];
      for (std::size_t i = 0; i < row_values; ++i) sums[i] += static_cast<WeightOf<T>>(row[i]) * weight;
    }
    for (const auto sum : sums) *to++ = rounded(sum);
  }
}

/// Computes the new rows from old rows that already have the new width. `rows` contains the old rows from index `first` on.
template <class T>
void resize_columns(const T* rows, std::size_t first, std::size_t row, const Weights<T>& down, T* to) {
  for (std::size_t y = 0; y < down.taps.size(); ++y)
    blend_rows(rows + (down.taps[y].first - first) * row, row, down.taps[y].count, &down.weights[y * down.stride],
               to + y * row);
}

template <class T>
void resample_values(std::span<const T> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
                     T* to) {
  const auto new_row = width * extent.channels, old_row = extent.width * extent.channels;
  const bool same_width = is_same_axis(box.left, box.right, extent.width, width);
  const bool same_height = is_same_axis(box.top, box.bottom, extent.height, height);
  if (same_width && same_height) return static_cast<void>(std::copy(from.begin(), from.end(), to));
  Weights<T> across, down;
  if (!same_width) across = weights_along<T>(extent.width, box.left, box.right, width);
  const auto resize_rows = [&](std::size_t first, std::size_t count, T* rows) {
    for (std::size_t y = 0; y < count; ++y)
      resize_row(extent.channels, from.data() + (first + y) * old_row, across, rows + y * new_row);
  };
  if (same_height) return resize_rows(0, height, to);
  down = weights_along<T>(extent.height, box.top, box.bottom, height);
  const auto first = down.taps.front().first, count = down.taps.back().first + down.taps.back().count - first;
  if (same_width) return resize_columns(from.data() + first * old_row, first, new_row, down, to);
  constexpr std::size_t small = 1 << 22;  // number of values up to which the intermediate image is always stored
  if (count * new_row > std::max({from.size(), height * new_row, small}))
    return resize_row_by_row(from.data(), extent, across, down, to);
  const auto narrowed = std::make_unique_for_overwrite<T[]>(count * new_row);
  resize_rows(first, count, narrowed.get());
  resize_columns(narrowed.get(), first, new_row, down, to);
}

}  // namespace

Box centered_box(const Extent& extent, std::size_t height, std::size_t width) {
  const auto old_height = static_cast<double>(extent.height), old_width = static_cast<double>(extent.width);
  const auto old_ratio = old_width / old_height, ratio = static_cast<double>(width) / static_cast<double>(height);
  const auto box_width = old_ratio > ratio ? ratio * old_height : old_width;
  const auto box_height = old_ratio > ratio ? old_height : old_width / ratio;
  const auto top = (old_height - box_height) * 0.5, left = (old_width - box_width) * 0.5;
  return {static_cast<float>(top), static_cast<float>(left), static_cast<float>(top + box_height),
          static_cast<float>(left + box_width)};
}

void resample(std::span<const std::uint8_t> from, const Extent& extent, const Box& box, std::size_t height,
              std::size_t width, std::uint8_t* to) {
  resample_values(from, extent, box, height, width, to);
}

void resample(std::span<const float> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
              float* to) {
  resample_values(from, extent, box, height, width, to);
}

}  // namespace trainrt::data
