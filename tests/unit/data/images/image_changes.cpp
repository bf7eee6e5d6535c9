// Tests of the transforms and augmentations of images.
#include <trainrt/error.hpp>

#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

constexpr std::size_t count = 60;

/// Returns images of 8 x 12 pixels with one byte per channel, interleaved or planar with the same colors.
std::string images_of(bool is_planar) {
  std::string bytes;
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t i = 0; i < 3 * 8 * 12; ++i) {
      const auto channel = is_planar ? i / 96 : i % 3, pixel = is_planar ? i % 96 : i / 3;
      bytes += static_cast<char>((pixel * 7 + channel * 50 + n * 3) % 251 + 1);
    }
  const std::string shape = is_planar ? "(60, 3, 8, 12)" : "(60, 8, 12, 3)";
  return npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}", bytes);
}

std::shared_ptr<DatasetImpl> with(const Scratch& dir, const std::map<std::string, std::string>& keys,
                                  bool is_planar = false, Shard shard = {}) {
  write(dir / "x.npy", images_of(is_planar));
  std::map<std::string, std::string> values{{"source", dir / "x.npy"}, {"field", "image"}};
  values.insert(keys.begin(), keys.end());
  return data::open_dataset("train", options(values), data::list_dataset("train", options(values)), shard, 1);
}

template <class T>
using Samples = std::map<std::uint64_t, std::vector<T>>;

/// Returns the values of the field `image` of each sample in epoch `epoch`.
template <class T = std::uint8_t>
Samples<T> walk(const std::shared_ptr<DatasetImpl>& dataset, std::int64_t epoch = 0) {
  Samples<T> seen;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(7, Remainder::uneven)) {
    const auto values = batch.field("image");
    const auto* const all = static_cast<const T*>(values.data);
    const auto each = values.bytes() / sizeof(T) / batch.size();
    for (std::size_t i = 0; i < batch.size(); ++i)
      seen[batch.indices()[i]] = std::vector<T>(all + i * each, all + (i + 1) * each);
  }
  return seen;
}

template <class T>
std::vector<T> interleaved(const std::vector<T>& planar) {
  std::vector<T> made;
  for (std::size_t pixel = 0; pixel < planar.size() / 3; ++pixel)
    for (std::size_t channel = 0; channel < 3; ++channel) made.push_back(planar[channel * planar.size() / 3 + pixel]);
  return made;
}

template <class T>
void same_in_both_layouts(const std::map<std::string, std::string>& keys) {
  const Scratch dir;
  const auto one = walk<T>(with(dir, keys)), other = walk<T>(with(dir, keys, true));
  REQUIRE(one.size() == count);
  for (const auto& [sample, values] : other) CHECK(interleaved(values) == one.at(sample));
}

}  // namespace

TEST_CASE("transforms of images give the same values in both layouts, for u8 and f32") {
  for (const std::string type : {"u8", "f32"})
    for (const auto& [key, text] : std::map<std::string, std::string>{{"resize", "image: 5x6"},
                                                                      {"crop", "image: 5x6"},
                                                                      {"random_resized_crop", "image: 5x6 0.3 0.8"},
                                                                      {"random_erasing", "image: 1"},
                                                                      {"color_jitter", "image: 0.4 0.4 0.4"}}) {
      INFO(key << " of " << type);
      if (type == "u8") same_in_both_layouts<std::uint8_t>({{key, text}});
      if (type == "f32") same_in_both_layouts<float>({{"cast", "image: f32"}, {key, text}});
    }
}

TEST_CASE("random changes of images depend on the epoch and the sample, and not on ranks") {
  for (const auto& [key, text] : std::map<std::string, std::string>{{"random_resized_crop", "image: 5x6"},
                                                                    {"random_erasing", "image: 0.5"},
                                                                    {"color_jitter", "image: 0.4 0.4 0.4"}}) {
    INFO(key);
    const Scratch dir;
    const auto all = walk(with(dir, {{key, text}}));
    auto parts = walk(with(dir, {{key, text}, {"threads", "3"}}, false, {0, 2}));
    parts.merge(walk(with(dir, {{key, text}}, false, {1, 2})));
    CHECK(parts == all);
    CHECK(walk(with(dir, {{key, text}}), 1) != all);
  }
}

TEST_CASE("resize comes before crop, and both come before the normalization") {
  const Scratch dir;
  const auto dataset = with(dir, {{"normalize", "image: 0.5 0.25"}, {"crop", "image: 6x6"}, {"resize", "image: 16x24"}});
  CHECK(data::in_words(dataset->source()->fields()) == "image f32[6, 6, 3]");
}

TEST_CASE("a crop is the middle of the image") {
  const Scratch dir;
  const auto whole = walk(with(dir, {})).at(3), middle = walk(with(dir, {{"crop", "image: 6x5"}})).at(3);
  REQUIRE(middle.size() == 6 * 5 * 3);
  for (std::size_t y = 0; y < 6; ++y)  // (12 - 5) / 2 is 3.5, which rounds to 4, the even number
    for (std::size_t x = 0; x < 15; ++x) CHECK(middle[y * 15 + x] == whole[(y + 1) * 36 + 4 * 3 + x]);
  CHECK_THROWS_WITH(with(dir, {{"crop", "image: 9x5"}}), Contains("crop") && Contains("8x12"));
}

TEST_CASE("each channel has its own mean and deviation") {
  for (const bool is_planar : {false, true})
    for (const std::string key : {"normalize", "normalize_last"}) {
      const Scratch dir;
      const auto bytes = walk(with(dir, {}, is_planar)).at(5);
      const auto values = walk<float>(with(dir, {{key, "image: 0.1 0.2 0.3 0.5 1 2"}}, is_planar)).at(5);
      const float means[] = {0.1F, 0.2F, 0.3F}, deviations[] = {0.5F, 1, 2};
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto channel = is_planar ? i / 96 : i % 3;
        REQUIRE(values[i] == (static_cast<float>(bytes[i]) / 255.0F - means[channel]) / deviations[channel]);
      }
    }
  const Scratch dir;
  CHECK_THROWS_WITH(with(dir, {{"normalize", "image: 1 2 3 4"}}), Contains("3 channels") && Contains("2 means"));
}

TEST_CASE("normalize_last is applied after the random changes, and before random_erasing") {
  const Scratch dir;
  const auto erased = walk<float>(with(dir, {{"random_erasing", "image: 1"}, {"normalize_last", "image: 0.5 0.1"}}));
  const auto plain = walk<float>(with(dir, {{"normalize_last", "image: 0.5 0.1"}}));
  std::size_t zeros = 0;
  for (const auto& [sample, values] : erased)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != plain.at(sample)[i]) {
        CHECK(values[i] == 0);
        ++zeros;
      }
  CHECK(zeros > count * 3);
  CHECK(zeros < count * 288 / 2);
}

TEST_CASE("a color jitter of 0 changes nothing, and one of brightness keeps the order of values") {
  const Scratch dir;
  CHECK(walk(with(dir, {{"color_jitter", "image: 0 0 0"}})) == walk(with(dir, {})));
  const auto plain = walk(with(dir, {}));
  for (const auto& [sample, values] : walk(with(dir, {{"color_jitter", "image: 0.5 0 0"}}))) {
    const auto& before = plain.at(sample);
    const auto at = static_cast<std::size_t>(std::min_element(before.begin(), before.end()) - before.begin());
    CHECK(values[at] <= 2 * before[at]);
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      if (before[i] <= before[i + 1]) REQUIRE(values[i] <= values[i + 1]);
  }
}

TEST_CASE("a resized crop of the complete image equals the resized image") {
  const Scratch dir;
  // Only the complete square has an area fraction of 1. Drawn proportions that do not fit fall back to the complete
  // image.
  std::string bytes;
  for (int i = 0; i < 2 * 8 * 8; ++i) bytes += static_cast<char>(i * 31);
  write(dir / "y.npy", npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8, 8)}", bytes));
  const auto one = [&](const std::string& key, const std::string& text) {
    const auto dataset = open({{"source", dir / "y.npy"}, {"field", "image"}, {key, text}});
    return walk(dataset);
  };
  CHECK(one("random_resized_crop", "image: 4x4 1 1") == one("resize", "image: 4x4"));
}

TEST_CASE("a change that does not fit the images is an error that names key and field") {
  const Scratch dir;
  const auto refused = [&](const std::string& key, const std::string& text, const std::string& why) {
    CHECK_THROWS_WITH(with(dir, {{key, text}}),
                      Contains("train.ini:7: [data.train]: " + key) && Contains("image") && Contains(why));
  };
  refused("resize", "image: 0x4", "HEIGHTxWIDTH");
  refused("resize", "image: 70000x4", "HEIGHTxWIDTH");
  refused("random_resized_crop", "image: 4x4 0 1", "share of the area");
  refused("random_resized_crop", "image: 4x4 0.5", "share of the area");
  refused("random_erasing", "image: 2", "probability");
  refused("color_jitter", "image: 1 1", "three numbers");
  refused("color_jitter", "image: 1 1 -1", "three numbers");
  refused("color_jitter", "image: 1 1 1 0.6", "from 0 to 0.5");
  CHECK_THROWS_WITH(with(dir, {{"cast", "image: f64"}, {"color_jitter", "image: 1 1 1"}}), Contains("f64"));
}
