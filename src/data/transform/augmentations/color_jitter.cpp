#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

/// A pixel's color turned by `shift` of a full circle of hues, 0 <= shift < 1: to HSV (A. R. Smith 1978) and back, as
/// torchvision's adjust_hue. `most`: of a channel.
void turn_hue(float shift, float most, float& red, float& green, float& blue) {
  const auto high = std::max({red, green, blue}), low = std::min({red, green, blue}), range = high - low;
  if (range <= 0) return;
  constexpr float sectors = 6;
  auto hue = high == red ? (green - blue) / range : high == green ? 2 + (blue - red) / range : 4 + (red - green) / range;
  hue += shift * sectors + sectors;
  hue -= sectors * std::floor(hue / sectors);
  const auto rest = hue - std::floor(hue);
  const auto falling = std::clamp(high - range * rest, 0.0F, most), rising = std::clamp(low + range * rest, 0.0F, most);
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

/// Brightness, contrast and saturation by factors, and hue by a shift, in an order that is drawn too, as torchvision's
/// ColorJitter; between them values are cut to what an image may have, and of u8 they are rounded once, in the end.
class Jittered final : public SampleMap {
 public:
  enum class Change : std::uint8_t { brightness, contrast, saturation, hue };
  static constexpr std::size_t most_changes = 4;
  using Amounts = std::array<double, most_changes>;

  Jittered(const Dataset::Field& field, const Amounts& amounts)
      : field_(field), axes_(image_axes(field)), amounts_(amounts), most_(field.dtype == DType::u8 ? 255.0F : 1.0F) {
    const auto side_by_side = axes_.channels_of(field.dtype);
    channels_ = std::max(side_by_side, axes_.planes);
    pixels_ = axes_.height * axes_.width;
    pixel_step_ = side_by_side;
    channel_step_ = side_by_side > 1 ? 1 : pixels_;
  }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    // Without a hue nothing is drawn for it: what was drawn before there was one stays the same.
    const auto count = amounts_.back() > 0 ? most_changes : most_changes - 1;
    std::array<Change, most_changes> order{Change::brightness, Change::contrast, Change::saturation, Change::hue};
    for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    std::array<float, most_changes> factors{};
    for (std::size_t i = 0; i < count; ++i) factors[i] = factor_of(i, random.uniform());
    std::vector<float> values(pixels_ * channels_);
    load(from, values);
    for (std::size_t i = 0; i < count; ++i) {
      const auto change = static_cast<std::size_t>(order[i]);
      if (amounts_[change] > 0) make(order[i], factors[change], values);
    }
    store(values, to);
  }

 private:
  /// Of a drawn number from 0 to 1.
  float factor_of(std::size_t change, double drawn) const {
    const bool is_hue = change == static_cast<std::size_t>(Change::hue);
    const auto least = is_hue ? -amounts_[change] : std::max(0.0, 1 - amounts_[change]);
    const auto most = is_hue ? amounts_[change] : 1 + amounts_[change];
    return static_cast<float>(least + (most - least) * drawn);
  }

  void load(std::span<const std::byte> from, std::vector<float>& values) const {
    if (field_.dtype == DType::f32) return static_cast<void>(std::memcpy(values.data(), from.data(), from.size()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(from[i]);
  }

  void store(const std::vector<float>& values, std::span<std::byte> to) const {
    if (field_.dtype == DType::f32) return static_cast<void>(std::memcpy(to.data(), values.data(), to.size()));
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<std::byte>(static_cast<int>(values[i] + 0.5F));
  }

  float gray_at(const std::vector<float>& values, std::size_t pixel) const {
    constexpr float red = 0.299F, green = 0.587F, blue = 0.114F;
    const auto* const at = values.data() + pixel * pixel_step_;
    return channels_ == 1 ? *at : red * at[0] + green * at[channel_step_] + blue * at[2 * channel_step_];
  }

  /// factor * value + (1 - factor) * other
  void blend(float& value, float factor, float other) const {
    value = std::clamp(factor * value + (1 - factor) * other, 0.0F, most_);
  }

  void make(Change change, float factor, std::vector<float>& values) const {
    if (change == Change::hue) return turn_all(factor, values);
    if (change != Change::saturation) {
      const auto other = change == Change::contrast ? mean_gray(values) : 0.0F;
      for (auto& value : values) blend(value, factor, other);
      return;
    }
    for (std::size_t pixel = 0; channels_ == 3 && pixel < pixels_; ++pixel) {
      const auto gray = gray_at(values, pixel);
      for (std::size_t channel = 0; channel < channels_; ++channel)
        blend(values[pixel * pixel_step_ + channel * channel_step_], factor, gray);
    }
  }

  void turn_all(float shift, std::vector<float>& values) const {
    for (std::size_t pixel = 0; channels_ == 3 && pixel < pixels_; ++pixel) {
      auto* const at = values.data() + pixel * pixel_step_;
      turn_hue(shift, most_, at[0], at[channel_step_], at[2 * channel_step_]);
    }
  }

  float mean_gray(const std::vector<float>& values) const {
    double sum = 0;
    for (std::size_t pixel = 0; pixel < pixels_; ++pixel) sum += static_cast<double>(gray_at(values, pixel));
    return static_cast<float>(sum / static_cast<double>(pixels_));
  }

  Dataset::Field field_;
  ImageAxes axes_;
  Amounts amounts_;
  float most_;
  std::size_t channels_ = 1, pixels_ = 0, pixel_step_ = 1, channel_step_ = 1;
};

std::unique_ptr<SampleMap> make_jittered(const Dataset::Field& field, std::span<const std::string> arguments) {
  Jittered::Amounts amounts{};
  constexpr double most_hue = 0.5;  // half a circle to either side is all of it
  bool are_good = arguments.size() == amounts.size() || arguments.size() == amounts.size() - 1;
  for (std::size_t i = 0; are_good && i < arguments.size(); ++i) {
    const auto amount = parse_real(arguments[i]);
    are_good = amount && std::isfinite(*amount) && *amount >= 0;
    amounts[i] = amount.value_or(0);
  }
  if (!are_good || amounts.back() > most_hue)
    throw UsageError(fmt::format(
        "{} needs three numbers of 0 or more, brightness, contrast, saturation, and if wanted a fourth up to 0.5, hue",
        field.name));
  const auto axes = image_axes(field);
  require_resampled(field);
  const auto channels = std::max(axes.planes, axes.channels_of(field.dtype));
  if (channels != 1 && channels != 3)
    throw UsageError(fmt::format("{} has {} channels, and not 1 or 3", field.name, channels));
  return std::make_unique<Jittered>(field, amounts);
}

}  // namespace

namespace plugins {

extern const Augmentation color_jitter{.name = "color_jitter",
                                       .help =
                                           "changes brightness, contrast and saturation of images by factors between 1 - "
                                           "AMOUNT and 1 + AMOUNT, and turns the hue by up to HUE (0.5: half a circle) to "
                                           "either side, others in each epoch: u8, "
                                           "or f32 from 0 to 1, so before values are normalized (normalize_last)",
                                       .arguments = "BRIGHTNESS CONTRAST SATURATION [HUE]",
                                       .make = make_jittered};

}  // namespace plugins

}  // namespace trainrt::data
