#include <filesystem>

#include <trainrt/error.hpp>

#include "data/images/image_codec.hpp"
#include "support/cpp/image_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using namespace trainrt::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes pixels_2x3{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 40, 50, 60, 70, 80, 90};

void put(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  write(path, bytes);
}

/// Writes cat/a.png, cat/b.webp and dog/c.PNG, and returns their folder.
std::string classes_in(const Scratch& dir) {
  put(dir / "set/cat/a.png", png_2x3());
  put(dir / "set/cat/b.webp", webp_2x3());
  put(dir / "set/dog/c.PNG", png_2x3());
  return dir / "set";
}

/// Returns the text of a field of varying length, for one sample.
std::string text_of(const DatasetImpl& dataset, std::size_t field, std::uint64_t sample) {
  const auto bytes = gathered<char>(dataset, field, {sample});
  return {bytes.begin(), bytes.end()};
}

std::string with_size(std::string png, std::uint32_t width, std::uint32_t height) {
  for (int i = 0; i < 4; ++i) {
    png[16 + static_cast<std::size_t>(i)] = static_cast<char>(width >> (24 - 8 * i));
    png[20 + static_cast<std::size_t>(i)] = static_cast<char>(height >> (24 - 8 * i));
  }
  std::uint32_t crc = 0xffffffff;  // of the header's chunk, from its name on
  for (std::size_t at = 12; at < 29; ++at) {
    crc ^= static_cast<unsigned char>(png[at]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  }
  for (int i = 0; i < 4; ++i) png[29 + static_cast<std::size_t>(i)] = static_cast<char>(~crc >> (24 - 8 * i));
  return png;
}

}  // namespace

TEST_CASE("images of class folders are samples with pixels, labels and paths") {
  const Scratch dir;
  const auto dataset = open({{"source", classes_in(dir)}, {"format", "images"}, {"paths", "true"}});
  REQUIRE(dataset->source()->size() == 3);
  const auto& fields = dataset->source()->fields();
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].name == "image");
  CHECK(fields[0].sample_shape == Shape{2, 3, 3});
  CHECK(gathered<std::uint8_t>(*dataset, 0, {2}) == pixels_2x3);
  CHECK(gathered<std::uint8_t>(*dataset, 0, {1}) == pixels_2x3);
  CHECK(gathered<std::int64_t>(*dataset, 1, {0, 1, 2}) == std::vector<std::int64_t>{0, 0, 1});
  CHECK(text_of(*dataset, 2, 2) == dir / "set/dog/c.PNG");
}

TEST_CASE("the description of images in trainrt check names the classes and their numbers") {
  const Scratch dir;
  put(dir / "set/dog/notes.txt", "?");
  const auto listing =
      data::list_dataset("train", options({{"source", classes_in(dir)}, {"format", "images"}, {"size", "4x4"}}));
  CHECK_THAT(data::described(listing), Contains("3 samples (images)") && Contains("image u8[4, 4, 3]") &&
                                           Contains("0 cat, 1 dog") && Contains("1 file"));
}

TEST_CASE("the format images is recognized by the name of the first file in a folder") {
  const Scratch dir;
  CHECK(open({{"source", classes_in(dir)}})->source()->size() == 3);
}

TEST_CASE("a list names images and their labels; names are numbered in sorted order") {
  const Scratch dir;
  classes_in(dir);
  put(dir / "set/list.csv", "# path,label\ndog/c.PNG,7\n\ncat/a.png,-2\n");
  auto dataset = open({{"source", dir / "set/list.csv"}, {"format", "images"}});
  CHECK(gathered<std::int64_t>(*dataset, 1, {0, 1}) == std::vector<std::int64_t>{7, -2});
  put(dir / "set/names.txt", "dog/c.PNG\tzebra\ncat/a.png\tape\n");
  dataset = open({{"source", '@' + (dir / "set/names.txt")}, {"format", "images"}});
  CHECK(gathered<std::int64_t>(*dataset, 1, {0, 1}) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("several folders share their classes") {
  const Scratch dir;
  put(dir / "one/b/1.png", png_2x3());
  put(dir / "two/a/1.png", png_2x3());
  const auto dataset = open({{"source", dir / "one, " + (dir / "two")}, {"format", "images"}});
  CHECK(gathered<std::int64_t>(*dataset, 1, {0, 1}) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("a list of images never leads out of its folder") {
  const Scratch dir;
  put(dir / "secret.png", png_2x3());
  for (const std::string line : {"../secret.png", "x/../../secret.png", "/secret.png", ",1"}) {
    put(dir / "set/list.csv", line + "\n");
    both_say({{"source", dir / "set/list.csv"}, {"format", "images"}}, dir / "set/list.csv", line);
  }
}

TEST_CASE("layout, type and channels define the pixel format") {
  const Scratch dir;
  const std::map<std::string, std::string> keys{{"source", classes_in(dir)}, {"format", "images"}};
  const auto with = [&](std::map<std::string, std::string> more) {
    more.insert(keys.begin(), keys.end());
    return open(more);
  };
  CHECK(with({{"layout", "planar"}})->source()->fields()[0].sample_shape == Shape{3, 2, 3});
  CHECK(gathered<std::uint8_t>(*with({{"layout", "planar"}}), 0, {0}) ==
        Bytes{255, 0, 0, 10, 40, 70, 0, 255, 0, 20, 50, 80, 0, 0, 255, 30, 60, 90});
  CHECK(gathered<std::uint8_t>(*with({{"channels", "1"}}), 0, {0}) == Bytes{76, 150, 29, 18, 48, 78});
  CHECK(gathered<std::uint8_t>(*with({{"channels", "4"}}), 0, {0})[7] == 255);
  const auto parts = gathered<float>(*with({{"type", "f32"}, {"layout", "planar"}}), 0, {0});
  CHECK(parts[0] == 1.0F);
  CHECK(parts[3] == 10.0F / 255.0F);
}

TEST_CASE("images that are not decoded are the bytes of their files") {
  const Scratch dir;
  const auto dataset = open({{"source", classes_in(dir)}, {"format", "images"}, {"decode", "false"}});
  CHECK(dataset->source()->fields()[0].varies);
  CHECK(text_of(*dataset, 0, 1) == webp_2x3());
}

TEST_CASE("images of several sizes without the key size are an error that names the key, file and sizes") {
  const Scratch dir;
  put(dir / "set/cat/z.jpg", jpeg_8x16());
  const auto set = classes_in(dir);
  both_say({{"source", set}, {"format", "images"}}, "cat/z.jpg", "8 x 16");
  both_say({{"source", set}, {"format", "images"}}, "2 x 3", "size =");
  both_say({{"source", set}, {"format", "images"}}, "heights are 2 to 8 and the widths 3 to 16", "--size=224x224");
  const auto dataset = open({{"source", set}, {"format", "images"}, {"size", "2x3"}});
  CHECK(gathered<std::uint8_t>(*dataset, 0, {0}) == pixels_2x3);  // an image of this size is not changed
}

TEST_CASE("JPEG images, progressive too, have the written colors") {
  const Scratch dir;
  put(dir / "a.jpg", jpeg_8x16());
  put(dir / "b.jpg", jpeg_progressive());
  const auto dataset = open({{"source", dir / "*.jpg"}, {"format", "images"}});
  for (const std::uint64_t sample : {0, 1}) {
    const auto pixels = gathered<std::uint8_t>(*dataset, 0, {sample});
    REQUIRE(pixels.size() == 8 * 16 * 3);
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 16; ++x) {
        const auto* const pixel = &pixels[(y * 16 + x) * 3];
        CHECK(std::abs(pixel[0] - static_cast<int>(16 * x)) < 30);
        CHECK(std::abs(pixel[1] - static_cast<int>(32 * y)) < 30);
      }
  }
}

TEST_CASE("a truncated or damaged image is an error that names it, of every format and at every length") {
  const Scratch dir;
  put(dir / "set/a.png", png_2x3());
  for (const auto& whole : {png_2x3(), webp_2x3(), jpeg_8x16(), jpeg_progressive()})
    for (const std::size_t left :
         {std::size_t{0}, std::size_t{1}, std::size_t{11}, whole.size() / 2, whole.size() - 20, whole.size() - 8}) {
      put(dir / "set/a.png", whole);
      const auto dataset = open({{"source", dir / "set"}, {"format", "images"}, {"size", "2x3"}});
      put(dir / "set/a.png", whole.substr(0, left));
      CHECK_THROWS_WITH(gathered<std::uint8_t>(*dataset, 0, {0}), Contains("set/a.png"));
    }
}

TEST_CASE("an image above max_pixels is refused by its header, before memory is allocated") {
  const Scratch dir;
  put(dir / "set/a.png", with_size(png_2x3(), 100000, 100000));
  both_say({{"source", dir / "set"}, {"format", "images"}}, "set/a.png", "100000 x 100000");
  both_say({{"source", dir / "set"}, {"format", "images"}}, "set/a.png", "max_pixels");
  put(dir / "set/a.png", png_2x3());
  both_say({{"source", dir / "set"}, {"format", "images"}, {"max_pixels", "5"}}, "set/a.png", "max_pixels = 5");
  both_say({{"source", dir / "set"}, {"format", "images"}, {"max_file_bytes", "80 B"}}, "set/a.png", "max_file_bytes = 80");
}

TEST_CASE("the type of a file is recognized by its bytes, and a file that is no image is an error that names it") {
  const Scratch dir;
  put(dir / "set/a.jpg", png_2x3());
  const std::map<std::string, std::string> keys{{"source", dir / "set"}, {"format", "images"}};
  CHECK(gathered<std::uint8_t>(*open(keys), 0, {0}) == pixels_2x3);
  put(dir / "set/a.jpg", "<html>not found</html>");
  both_say(keys, "set/a.jpg", "not an image");
  put(dir / "set/a.jpg", webp_animated());
  both_say(keys, "set/a.jpg", "animated");
  fs::remove(dir / "set/a.jpg");
  put(dir / "set/b.txt", "?");
  both_say(keys, dir / "set", "contains no images");
}

TEST_CASE("with on_error = skip, damaged images are skipped and counted") {
  const Scratch dir;
  for (int i = 0; i < 40; ++i)
    put(dir / ("set/" + std::to_string(i) + ".png"), i % 8 == 3 ? png_2x3().substr(0, 60) : i == 5 ? "" : png_2x3());
  const std::map<std::string, std::string> keys{{"source", dir / "set"}, {"format", "images"}, {"on_error", "skip"}};
  const auto dataset = open(keys);
  std::size_t seen = 0;
  for (const auto& batch : Dataset(dataset).epoch(0).batches(10, Remainder::uneven)) {
    CHECK(batch.field("image").shape[0] == static_cast<std::int64_t>(batch.size()));
    seen += batch.size();
  }
  CHECK(seen == 34);
  CHECK(dataset->plan().skipping->skipped() == 6);
}

TEST_CASE("a changed set of images changes the identity of the dataset") {
  const Scratch dir;
  const std::map<std::string, std::string> keys{{"source", classes_in(dir)}, {"format", "images"}};
  const auto before = open(keys)->plan().files_text;
  CHECK(open(keys)->plan().files_text == before);
  put(dir / "set/dog/d.png", png_2x3());
  CHECK(open(keys)->plan().files_text != before);
  fs::remove(dir / "set/dog/d.png");
  put(dir / "set/dog/c.PNG", png_2x3() + "x");
  CHECK(open(keys)->plan().files_text != before);
}

TEST_CASE("other ranks get the listing of images unchanged") {
  const Scratch dir;
  const auto keys = options({{"source", classes_in(dir)}, {"format", "images"}});
  const auto listing = data::listing_of(data::bytes_of(data::list_dataset("train", keys)));
  const auto dataset = data::open_dataset("train", keys, listing, {1, 2}, 1);
  CHECK(gathered<std::uint8_t>(*dataset, 0, {2}) == pixels_2x3);
  CHECK(gathered<std::int64_t>(*dataset, 1, {2, 0}) == std::vector<std::int64_t>{1, 0});
}
