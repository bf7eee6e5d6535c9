#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

namespace {

/// Rotates the hue of a color by `shift`, a fraction of a full circle (0 <= shift < 1). Converts the color to HSV (A.
/// R. Smith 1978) and back, as torchvision's adjust_hue. `max` is the maximum value of a channel. A color without a hue
/// (gray, NaN) is unchanged.
void turn_hue(float shift, float max, float& red, float& green, float& blue) {
  const auto high = std::max({red, green, blue}), low = std::min({red, green, blue}), range = high - low;
  if (range <= 0) return;
  constexpr float sectors = 6;
  auto hue = high == red ? (green - blue) / range : high == green ? 2 + (blue - red) / range : 4 + (red - green) / range;
  if (!std::isfinite(hue)) return;
  hue += shift * sectors + sectors;
  hue -= sectors * std::floor(hue / sectors);
  const auto rest = hue - std::floor(hue);
  const auto falling = std::clamp(high - range * rest, 0.0F, max), rising = std::clamp(low + range * rest, 0.0F, max);
  const std::array<std::array<float, 3>, 6> colors{{{high, rising, low},
                                                    {falling, high, low},
                                                    {low, high, rising},
                                                    {low, falling, high},
                                                    {rising, low, high},
                                                    {high, low, falling}}};
  const auto& color = colors[std::min<std::size_t>(static_cast<std::size_t>(hue), colors.size() - 1)];
  red = color[0];
  green = color[1];
  blue = color[2];
}

enum Change : std::uint8_t { brightness, contrast, saturation, hue, change_count };

/// Changes brightness, contrast and saturation by random factors, and the hue by a random shift, in a random order, like
/// torchvision's ColorJitter. Values are clamped after each change; u8 values are rounded only once, at the end.
class Jitter {
 public:
  using Amounts = std::array<double, change_count>;

  Jitter(const ImageAxes& axes, const Amounts& amounts)
      : is_u8_(axes.dtype == DType::u8),
        amounts_(amounts),
        max_(is_u8_ ? 255.0F : 1.0F),
        channels_(axes.all_channels()),
        pixels_(axes.height * axes.width),
        pixel_step_(axes.channels),
        channel_step_(axes.channels > 1 ? 1 : pixels_) {}

  void operator()(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const {
    // If no change of the hue is requested, draws no random number for the hue, because an additional draw would change
    // the results of existing runs.
    const std::size_t count = amounts_[hue] > 0 ? change_count : change_count - 1;
    std::array<std::size_t, change_count> order{brightness, contrast, saturation, hue};
    for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    std::array<float, change_count> factors{};
    for (std::size_t i = 0; i < count; ++i) factors[i] = factor_of(i, random.uniform());
    std::vector<float> values(pixels_ * channels_);
    if (is_u8_)
      std::ranges::transform(from, values.begin(), [](std::byte value) { return static_cast<float>(value); });
    else
      std::memcpy(values.data(), from.data(), from.size());
    for (std::size_t i = 0; i < count; ++i)
      if (amounts_[order[i]] > 0) apply(order[i], factors[order[i]], values);
    if (is_u8_)
      std::ranges::transform(values, to.begin(),
                             [](float value) { return static_cast<std::byte>(static_cast<int>(value + 0.5F)); });
    else
      std::memcpy(to.data(), values.data(), to.size());
  }

 private:
  /// Maps a random number from 0 to 1 to the factor of the change `change`, or to the shift of the hue.
  float factor_of(std::size_t change, double random_number) const {
    const auto amount = amounts_[change];
    const auto min = change == hue ? -amount : std::max(0.0, 1 - amount), max = change == hue ? amount : 1 + amount;
    return static_cast<float>(min + (max - min) * random_number);
  }

  float gray_at(const float* pixel) const {
    constexpr float red = 0.299F, green = 0.587F, blue = 0.114F;
    return channels_ == 1 ? *pixel : red * pixel[0] + green * pixel[channel_step_] + blue * pixel[2 * channel_step_];
  }

  /// Sets `value` to factor * value + (1 - factor) * other, clamped to the range from 0 to max_.
  void blend(float& value, float factor, float other) const {
    value = std::clamp(factor * value + (1 - factor) * other, 0.0F, max_);
  }

  void apply(std::size_t change, float factor, std::vector<float>& values) const {
    if (change == brightness || change == contrast) {
      const auto other = change == contrast ? mean_gray(values) : 0.0F;
      for (auto& value : values) blend(value, factor, other);
      return;
    }
    for (std::size_t i = 0; channels_ == 3 && i < pixels_; ++i) {
      auto* const pixel = values.data() + i * pixel_step_;
      if (change == hue) {
        turn_hue(factor, max_, pixel[0], pixel[channel_step_], pixel[2 * channel_step_]);
        continue;
      }
      const auto gray = gray_at(pixel);
      for (std::size_t channel = 0; channel < channels_; ++channel) blend(pixel[channel * channel_step_], factor, gray);
    }
  }

  float mean_gray(const std::vector<float>& values) const {
    double sum = 0;
    for (std::size_t i = 0; i < pixels_; ++i) sum += static_cast<double>(gray_at(values.data() + i * pixel_step_));
    return static_cast<float>(sum / static_cast<double>(pixels_));
  }

  bool is_u8_;
  Amounts amounts_;
  float max_;  ///< maximum of a channel's value
  std::size_t channels_, pixels_;
  std::size_t pixel_step_, channel_step_;  ///< number of values from a pixel to the next, and from a channel to the next
};

FieldMap make_color_jitter(const Dataset::Field& field, std::span<const std::string> arguments) {
  Jitter::Amounts amounts{};
  constexpr double max_amount = 1e6;  // keeps all numbers finite
  constexpr double max_hue = 0.5;     // half a circle in each direction reaches every hue
  bool are_valid = arguments.size() == change_count || arguments.size() == change_count - 1;
  for (std::size_t i = 0; are_valid && i < arguments.size(); ++i) {
    const auto amount = parse_real(arguments[i]);
    are_valid = amount && *amount >= 0 && *amount <= (i == hue ? max_hue : max_amount);
    amounts[i] = amount.value_or(0);
  }
  if (!are_valid)
    throw UsageError(
        fmt::format("{0}: '{3}' is invalid. "
                    "Valid are three numbers from 0 to {1}: brightness, contrast, saturation. "
                    "A fourth number from 0 to {2}, the hue, is optional",
                    field.name, static_cast<int>(max_amount), max_hue, join(arguments, " ")));
  const auto axes = image_axes(field);
  require_u8_or_f32(field);
  if (const auto channels = axes.all_channels(); channels != 1 && channels != 3)
    throw UsageError(
        fmt::format("{} has {} channels; color_jitter changes images of 1 or 3 channels", field.name, channels));
  return {field, Jitter(axes, amounts)};
}

}  // namespace

extern const Transform color_jitter{
    .name = "color_jitter",
    .help =
        "changes brightness, contrast and saturation of images by random factors between 1 - AMOUNT and 1 + AMOUNT, "
        "and rotates the hue by up to HUE (0.5 is half a circle) in either direction; the changes differ in each epoch. "
        "Images are u8, or f32 from 0 to 1; to normalize them, use normalize_last",
    .arguments = "BRIGHTNESS CONTRAST SATURATION [HUE]",
    .make = make_color_jitter};

}  // namespace trainrt::data::plugins
