#include "data/transform/transform.hpp"

#include <set>

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// Returns 300 images of 2 x 3 bytes 1 .. 6, and as many masks of the same bytes.
std::map<std::string, std::string> images(const Scratch& dir) {
  using namespace std::string_literals;
  std::string image = "\1\2\3\4\5\6", all;
  for (int i = 0; i < 300; ++i) all += image;
  write(dir / "x-idx3-ubyte", "\0\0\x8\x3\0\0\1\x2c\0\0\0\2\0\0\0\3"s + all);
  write(dir / "y-idx3-ubyte", "\0\0\x8\x3\0\0\1\x2c\0\0\0\2\0\0\0\3"s + all);
  return {{"source", dir / "x-idx3-ubyte"}, {"labels", dir / "y-idx3-ubyte"}};
}

using Image = std::vector<std::uint8_t>;

/// Returns each image of the epoch, by sample.
std::map<std::uint64_t, Image> walk(const std::shared_ptr<DatasetImpl>& dataset, std::int64_t epoch, std::size_t batch_size,
                                    const std::string& field = "images") {
  std::map<std::uint64_t, Image> seen;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(batch_size, Remainder::uneven)) {
    const auto values = batch.field(field);
    const auto* const bytes = static_cast<const std::uint8_t*>(values.data);
    const auto each = values.bytes() / batch.size();
    for (std::size_t i = 0; i < batch.size(); ++i)
      seen[batch.indices()[i]] = Image(bytes + i * each, bytes + (i + 1) * each);
  }
  return seen;
}

std::shared_ptr<DatasetImpl> with(const Scratch& dir, std::map<std::string, std::string> more, Shard shard = {}) {
  auto values = images(dir);
  values.insert(more.begin(), more.end());
  return data::open_dataset("train", options(values), data::list_dataset("train", options(values)), shard, 1);
}

}  // namespace

TEST_CASE("a flip mirrors about half of the images, different ones in each epoch, and a mask together with its image") {
  const Scratch dir;
  const auto dataset = with(dir, {{"random_flip", "images: horizontal, labels: horizontal"}});
  const auto first = walk(dataset, 0, 10);
  const Image plain{1, 2, 3, 4, 5, 6}, mirrored{3, 2, 1, 6, 5, 4};
  int turned = 0;
  for (const auto& [sample, image] : first) {
    REQUIRE((image == plain || image == mirrored));
    turned += image == mirrored ? 1 : 0;
  }
  CHECK(std::abs(turned - 150) < 44);  // 5 standard deviations
  CHECK(first == walk(dataset, 0, 10, "labels"));
  CHECK(first != walk(dataset, 1, 10));
  const auto down = walk(with(dir, {{"random_flip", "images: vertical"}}), 0, 300);
  CHECK(std::set<Image>{down.at(0), down.at(1), down.at(2), down.at(3), down.at(4), down.at(5), down.at(6)} ==
        std::set<Image>{plain, {4, 5, 6, 1, 2, 3}});
}

TEST_CASE("the random change of a sample depends on neither batch, order and rank nor on reading ahead") {
  const Scratch dir;
  const std::map<std::string, std::string> crop{{"random_crop", "images: 1"}};
  const auto all = walk(with(dir, crop), 3, 300);
  auto ahead = crop;
  ahead.insert({{"memory", "0 B"}, {"shuffle", "true"}, {"threads", "3"}});
  CHECK(walk(with(dir, ahead), 3, 7) == all);
  std::map<std::uint64_t, Image> of_ranks;
  for (int rank = 0; rank < 3; ++rank) of_ranks.merge(walk(with(dir, crop, {rank, 3}), 3, 5));
  CHECK(of_ranks == all);
  CHECK(std::set<Image>{all.at(0), all.at(1), all.at(2), all.at(3), all.at(4), all.at(5), all.at(6), all.at(7)}.size() > 2);
}

TEST_CASE("a random crop shifts the image and fills with zeros") {
  const Scratch dir;
  std::set<Image> seen;
  for (const auto& [sample, image] : walk(with(dir, {{"random_crop", "images: 1"}}), 0, 300)) seen.insert(image);
  CHECK(seen.size() == 9);
  CHECK(seen.count({1, 2, 3, 4, 5, 6}) == 1);
  CHECK(seen.count({5, 6, 0, 0, 0, 0}) == 1);  // shifted up and left by one pixel
  CHECK(seen.count({0, 0, 0, 0, 1, 2}) == 1);
}

TEST_CASE("channels before and after the pixel axes are recognized") {
  const auto axes = [](Shape shape) { return data::image_axes({"x", DType::f32, std::move(shape)}); };
  CHECK(axes({3, 32, 16}).planes == 3);
  CHECK(axes({3, 32, 16}).width == 16);
  CHECK(axes({32, 16, 3}).planes == 1);
  CHECK(axes({32, 16, 3}).width == 16);
  CHECK(axes({32, 16, 3}).pixel_bytes() == 12);
  CHECK(axes({28, 28}).height == 28);
  for (const Shape& shape : {Shape{0, 28}, Shape{28, 0, 3}, Shape{3, 28, 0}})
    CHECK_THROWS_WITH(axes(shape), Contains("x is not an image") && Contains("at least one pixel"));
  CHECK_THROWS_WITH(axes({784}), Contains("x is not an image") && Contains("[784]"));
}

TEST_CASE("noise has the requested deviation, and is added after other keys") {
  const Scratch dir;
  const auto dataset = with(dir, {{"cast", "images: f64"}, {"random_noise", "images: 0.5"}});
  double sum = 0, squares = 0;
  for (const auto& batch : Dataset(dataset).epoch(0).batches(300)) {
    const auto* const values = static_cast<const double*>(batch.field("images").data);
    for (int i = 0; i < 1800; ++i) {
      const auto noise = values[i] - (i % 6 + 1);
      sum += noise, squares += noise * noise;
    }
  }
  CHECK(std::abs(sum / 1800) < 0.06);  // 5 standard deviations
  CHECK(std::sqrt(squares / 1800) == Approx(0.5).epsilon(0.1));
}

TEST_CASE("an invalid augmentation is an error that names section, key and field") {
  const Scratch dir;
  const auto says = [&](const std::string& key, const std::string& value, const std::string& what) {
    CHECK_THROWS_WITH(with(dir, {{key, value}}), Contains("[data.train]") && Contains(key) && Contains(what));
  };
  says("random_flip", "images: sideways", "horizontal and vertical");
  says("random_flip", "image: horizontal", "did you mean 'images'");
  says("random_crop", "images: 3", "from 1 to 2");
  says("random_crop", "images: 0.5", "from 1 to 2");
  says("random_noise", "images: 1", "images has type u8");
  says("random_noise", "images", "FIELD: DEVIATION");
}

TEST_CASE("a map in C++ changes type and shape, draws by sample, and does not change ranges that were made before") {
  const Scratch dir;
  Dataset dataset(with(dir, {{"memory", "0 B"}}));
  auto plain = dataset.epoch(0).batches(100);
  dataset.map("images", {"", DType::f32, {2}}, [](auto from, auto to, Random& random) {
    const float made[] = {static_cast<float>(from[5]), static_cast<float>(random.uniform())};
    std::memcpy(to.data(), made, sizeof made);
  });
  CHECK(dataset.fields()[0].sample_shape == Shape{2});
  for (const auto& batch : plain) CHECK(batch.field("images").shape == Shape{100, 2, 3});
  std::set<float> drawn;
  for (const auto& batch : dataset.epoch(0).batches(100)) {
    const auto* const values = static_cast<const float*>(batch.field("images").data);
    for (std::size_t i = 0; i < 100; ++i) {
      CHECK(values[2 * i] == 6);
      drawn.insert(values[2 * i + 1]);
    }
    auto random = batch.random(3), again = batch.random(3), other = batch.random(4);
    const auto number = random.next_u64();
    CHECK(number == again.next_u64());
    CHECK(number != other.next_u64());
  }
  CHECK(drawn.size() == 300);
  CHECK_THROWS_WITH(dataset.map("image", {}, {}), Contains("dataset 'train'") && Contains("did you mean 'images'"));
}
