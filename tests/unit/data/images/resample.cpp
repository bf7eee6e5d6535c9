#include "data/images/resample.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::data;

namespace {

template <class T>
std::vector<T> resampled(const std::vector<T>& from, const Extent& extent, const Box& box, std::size_t height,
                         std::size_t width) {
  std::vector<T> to(height * width * extent.channels);
  resample(from, extent, box, height, width, to.data());
  return to;
}

}  // namespace

TEST_CASE("an image that keeps its size keeps its values") {
  const std::vector<std::uint8_t> image{1, 2, 3, 4, 5, 6};
  const Extent extent{2, 3, 1};
  CHECK(resampled(image, extent, full_box(extent), 2, 3) == image);
}

TEST_CASE("half the size is the triangle-weighted mean of the neighbours") {
  // Weights of four neighbours, from Pillow: Image.fromarray(...).resize((2, 1), BILINEAR).
  const std::vector<std::uint8_t> image{0, 100, 200, 255};
  const Extent extent{1, 4, 1};
  CHECK(resampled(image, extent, full_box(extent), 1, 2) == std::vector<std::uint8_t>{71, 209});
}

TEST_CASE("twice the size interpolates between pixels, each channel separately") {
  const std::vector<std::uint8_t> image{0, 200, 100, 0};
  const Extent extent{1, 2, 2};
  CHECK(resampled(image, extent, full_box(extent), 1, 4) == std::vector<std::uint8_t>{0, 200, 25, 150, 75, 50, 100, 0});
}

TEST_CASE("f32 images are resampled like u8 images, without rounding") {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 37 * 23 * 3; ++i) bytes.push_back(static_cast<std::uint8_t>(i * i * 7 + i));
  const std::vector<float> floats(bytes.begin(), bytes.end());
  const Extent extent{37, 23, 3};
  for (const auto& box : {full_box(extent), Box{3, 2, 33, 20}, centered_box(extent, 8, 31)}) {
    const auto rounded = resampled(bytes, extent, box, 8, 31);
    const auto exact = resampled(floats, extent, box, 8, 31);
    for (std::size_t i = 0; i < exact.size(); ++i) CHECK(static_cast<float>(rounded[i]) == Approx(exact[i]).margin(1.01));
  }
}

TEST_CASE("the middle part has the requested proportions") {
  const auto box = centered_box({100, 300, 3}, 50, 50);
  CHECK(box.top == 0);
  CHECK(box.bottom == 100);
  CHECK(box.left == 100);
  CHECK(box.right == 200);
}

TEST_CASE("a tall image that becomes wide has the same values as if it became wide first") {
  const Extent tall{40000, 2, 1};  // intermediate results would need more memory than the image and its result
  std::vector<std::uint8_t> image;
  for (std::size_t i = 0; i < tall.values(); ++i) image.push_back(static_cast<std::uint8_t>(i * i * 7 + i));
  const auto widened = resampled(image, tall, full_box(tall), 40000, 200);
  const Extent wide{40000, 200, 1};
  CHECK(resampled(image, tall, full_box(tall), 3, 200) == resampled(widened, wide, full_box(wide), 3, 200));
}
