#include "data/images/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace trainrt::data {

namespace {

constexpr int weight_bits = 22;

template <class T>
using WeightOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, float>;

std::int32_t fixed(double weight) {
  return static_cast<std::int32_t>(std::floor(weight * (1 << weight_bits) + 0.5));  // no weight is below 0
}

/// Which values along an axis each new value is made of, and their weights.
template <class T>
struct Weights {
  struct Taps {
    std::size_t first = 0, count = 0;
  };
  std::size_t most = 0;  ///< taps of a value; so many weights lie between those of one value and the next
  std::vector<Taps> taps;
  std::vector<WeightOf<T>> weights;
};

/// Pillow's precompute_coeffs().
template <class T>
Weights<T> weights_along(std::size_t extent, float begin, float end, std::size_t made) {
  const auto scale = static_cast<double>(end - begin) / static_cast<double>(made), reach = std::max(scale, 1.0);
  Weights<T> found;
  found.most = static_cast<std::size_t>(std::ceil(reach)) * 2 + 1;
  found.taps.resize(made);
  found.weights.resize(made * found.most);
  std::vector<double> exact(found.most);
  for (std::size_t i = 0; i < made; ++i) {
    const auto center = static_cast<double>(begin) + (static_cast<double>(i) + 0.5) * scale;
    const auto first = static_cast<std::size_t>(std::max(0.0, center - reach + 0.5));
    const auto behind = std::min(extent, static_cast<std::size_t>(std::max(0.0, center + reach + 0.5)));
    double sum = 0;
    for (auto at = first; at < behind; ++at) {
      const auto away = std::abs((static_cast<double>(at) - center + 0.5) * (1.0 / reach));
      sum += exact[at - first] = away < 1.0 ? 1.0 - away : 0.0;
    }
    found.taps[i] = {first, behind - first};
    for (auto at = first; at < behind; ++at) {
      const auto weight = sum == 0 ? exact[at - first] : exact[at - first] / sum;
      auto& kept = found.weights[i * found.most + (at - first)];
      if constexpr (std::is_same_v<T, std::uint8_t>)
        kept = fixed(weight);
      else
        kept = static_cast<float>(weight);
    }
  }
  return found;
}

inline std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255)); }
inline float rounded(float sum) { return sum; }

template <class T>
constexpr WeightOf<T> half() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return 1 << (weight_bits - 1);
  else
    return 0;
}

template <std::size_t channels, class T>
void along_row(const T* from, const Weights<T>& weights, T* to) {
  const auto* weight = weights.weights.data();
  for (const auto& [first, count] : weights.taps) {
    WeightOf<T> sums[channels];
    std::fill_n(sums, channels, half<T>());
    const auto* pixel = from + first * channels;
    for (std::size_t tap = 0; tap < count; ++tap, pixel += channels)
      for (std::size_t channel = 0; channel < channels; ++channel)
        sums[channel] += static_cast<WeightOf<T>>(pixel[channel]) * weight[tap];
    for (std::size_t channel = 0; channel < channels; ++channel) *to++ = rounded(sums[channel]);
    weight += weights.most;
  }
}

/// One new row out of `count` rows that follow one another.
template <class T>
void along_columns(const T* rows, std::size_t row, std::size_t count, const WeightOf<T>* weights, T* to) {
  constexpr std::size_t at_once = 256;
  for (std::size_t first = 0; first < row; first += at_once) {
    const auto values = std::min(at_once, row - first);
    WeightOf<T> sums[at_once];
    std::fill_n(sums, values, half<T>());
    for (std::size_t tap = 0; tap < count; ++tap) {
      const auto* const from = rows + tap * row + first;
      const auto weight = weights[tap];
      for (std::size_t i = 0; i < values; ++i) sums[i] += static_cast<WeightOf<T>>(from[i]) * weight;
    }
    for (std::size_t i = 0; i < values; ++i) to[first + i] = rounded(sums[i]);
  }
}

template <class T>
void along_row(std::size_t channels, const T* from, const Weights<T>& weights, T* to) {
  if (channels == 1) return along_row<1>(from, weights, to);
  if (channels == 2) return along_row<2>(from, weights, to);
  if (channels == 3) return along_row<3>(from, weights, to);
  along_row<4>(from, weights, to);
}

bool is_same_axis(float begin, float end, std::size_t extent, std::size_t made) {
  return begin == 0 && end == static_cast<float>(extent) && made == extent;
}

template <class T>
void resample_of(std::span<const T> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
                 T* to) {
  const auto new_row = width * extent.channels, old_row = extent.width * extent.channels;
  const bool same_width = is_same_axis(box.left, box.right, extent.width, width);
  if (is_same_axis(box.top, box.bottom, extent.height, height)) {  // rows only
    if (same_width) return static_cast<void>(std::memcpy(to, from.data(), extent.values() * sizeof(T)));
    const auto across = weights_along<T>(extent.width, box.left, box.right, width);
    for (std::size_t y = 0; y < height; ++y)
      along_row(extent.channels, from.data() + y * old_row, across, to + y * new_row);
    return;
  }
  const auto down = weights_along<T>(extent.height, box.top, box.bottom, height);
  const auto first = down.taps.front().first, behind = down.taps.back().first + down.taps.back().count;
  std::unique_ptr<T[]> narrowed;
  const T* rows = from.data() + first * old_row;
  if (!same_width) {
    const auto across = weights_along<T>(extent.width, box.left, box.right, width);
    narrowed = std::make_unique_for_overwrite<T[]>((behind - first) * new_row);
    for (auto y = first; y < behind; ++y)
      along_row(extent.channels, from.data() + y * old_row, across, narrowed.get() + (y - first) * new_row);
    rows = narrowed.get();
  }
  for (std::size_t y = 0; y < height; ++y)
    along_columns(rows + (down.taps[y].first - first) * new_row, new_row, down.taps[y].count, &down.weights[y * down.most],
                  to + y * new_row);
}

}  // namespace

Box middle_of(const Extent& extent, std::size_t height, std::size_t width) {
  const auto own_height = static_cast<double>(extent.height), own_width = static_cast<double>(extent.width);
  const auto live = own_width / own_height, wanted = static_cast<double>(width) / static_cast<double>(height);
  const auto cut_width = live > wanted ? wanted * own_height : own_width;
  const auto cut_height = live > wanted ? own_height : own_width / wanted;
  const auto top = (own_height - cut_height) * 0.5, left = (own_width - cut_width) * 0.5;
  return {static_cast<float>(top), static_cast<float>(left), static_cast<float>(top + cut_height),
          static_cast<float>(left + cut_width)};
}

void resample(std::span<const std::uint8_t> from, const Extent& extent, const Box& box, std::size_t height,
              std::size_t width, std::uint8_t* to) {
  resample_of(from, extent, box, height, width, to);
}

void resample(std::span<const float> from, const Extent& extent, const Box& box, std::size_t height, std::size_t width,
              float* to) {
  resample_of(from, extent, box, height, width, to);
}

}  // namespace trainrt::data
