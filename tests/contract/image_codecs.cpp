// Checks the contract of every image codec of image_codec_table().
#include <thread>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "data/images/image_decoder.hpp"
#include "data/source/source.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/image_bytes.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using namespace trainrt::data;
using Catch::Matchers::Contains;
using test::bytes_of_hex;
using test::error_of;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// An encoded image and its pixels as R, G, B, alpha; written by Pillow, or by hand where Pillow cannot write the kind. A
/// new codec needs examples here, at least one of a single pixel.
struct Example {
  std::string codec, kind, encoded;
  ImageSize size;
  Bytes rgba;
};

const Bytes colors_2x3{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 10, 20, 30, 255, 40, 50, 60, 255, 70, 80, 90, 255};

std::vector<Example> png_examples() {
  const auto png = [](const std::string& header_and_data) {
    return bytes_of_hex("89504e470d0a1a0a0000000d49484452" + header_and_data + "0000000049454e44ae426082");
  };
  return {
      {"PNG", "RGB", test::png_2x3(), {2, 3}, colors_2x3},
      {"PNG",
       "gray",
       png("000000010000000108000000003a7e9b550000000a49444154789c63f00500004f004e698b016c"),
       {1, 1},
       {77, 77, 77, 255}},
      {"PNG",
       "gray of 16 bits",
       png("0000000200000001100000000081d9fc150000000d49444154789c63f065fcff0f000438024c27b92363"),
       {1, 2},
       {77, 77, 77, 255, 255, 255, 255, 255}},
      {"PNG",
       "gray of 1 bit",
       png("00000002000000010100000000dc5942270000000a49444154789c63700000004200412937f4ef"),
       {1, 2},
       {0, 0, 0, 255, 255, 255, 255, 255}},
      {"PNG",
       "gray with alpha",
       png("00000001000000010804000000b51c0c020000000b49444154789c63f06d0000011d00ce5325d96c"),
       {1, 1},
       {77, 77, 77, 128}},
      {"PNG",
       "RGBA",
       png("000000010000000208060000009981b6270000001249444154789c63e01291d360d2d0d0b80e00050f01b665411f2c"),
       {2, 1},
       {10, 20, 30, 40, 50, 60, 70, 255}},
      {"PNG",
       "RGB of 16 bits",
       png("00000001000000011002000000c0e78f9d0000000f49444154789c63103209ab98b507000627026b0eded57a"),
       {1, 1},
       {0x12, 0x56, 0x9a, 255}},
      {"PNG",
       "palette with transparency",
       png("00000002000000010103000000ceecedc900000006504c5445010203c8643250b4ae3f0000000274524e5380ff6012ba"
           "fe0000000a49444154789c63700000004200412937f4ef"),
       {1, 2},
       {1, 2, 3, 128, 200, 100, 50, 255}},
  };
}

std::vector<Example> examples_of(const ImageCodec& codec) {
  auto examples = png_examples();
  examples.push_back({"WebP", "RGB", test::webp_2x3(), {2, 3}, colors_2x3});
  examples.push_back({"WebP",
                      "one pixel",
                      bytes_of_hex("524946461e000000574542505650384c110000002f0000000007508a2ad4a3ff8188e87f0000"),
                      {1, 1},
                      {10, 20, 30, 255}});
  examples.push_back({"WebP",
                      "RGBA",
                      bytes_of_hex("524946461e000000574542505650384c110000002f0000001007508a2ad4a3288188e87f0000"),
                      {1, 1},
                      {10, 20, 30, 40}});
  examples.push_back(
      {"JPEG",
       "gray",
       bytes_of_hex("ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912"
                    "130f141d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b080001"
                    "000101011100ffc40014000100000000000000000000000000000006ffc4001410010000000000000000000000000000"
                    "0000ffda0008010100003f0018ffd9"),
       {1, 1},
       {77, 77, 77, 255}});
  examples.push_back(
      {"JPEG",
       "RGB",
       bytes_of_hex("ffd8ffe000104a46494600010100000100010000ffdb0043000201010101010201010102020202020403020202020504"
                    "040304060506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affdb0043010202"
                    "02020202050303050a0706070a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
                    "0a0a0a0a0a0a0a0a0a0a0a0a0a0affc00011080001000103012200021101031101ffc400150001010000000000000000"
                    "0000000000000005ffc40014100100000000000000000000000000000000ffc400150101010000000000000000000000"
                    "0000000809ffc40014110100000000000000000000000000000000ffda000c03010002110311003f009e0056976fffd9"),
       {1, 1},
       {10, 200, 30, 255}});
  examples.push_back(
      {"JPEG",
       "CMYK",
       bytes_of_hex("ffd8ffee000e41646f626500640000000000ffdb00430002010101010102010101020202020204030202020205040403"
                    "04060506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affc000140800010001"
                    "044311004d11005911004b1100ffc4001500010100000000000000000000000000000907ffc400141001000000000000"
                    "00000000000000000000ffda000e0443004d0059004b00003f007f16c1b66b1fffd9"),
       {1, 1},
       {235, 143, 51, 255}});
  std::erase_if(examples, [&](const auto& example) { return example.codec != codec.name; });
  return examples;
}

EncodedImage bytes_in(const std::string& text) { return std::as_bytes(std::span(text)); }

ImageDecoder decoder_with(const std::string& key, const std::string& value) {
  Options given;
  given.set("channels", {"4", "train.ini:7"});
  given.set(key, {value, "train.ini:7"});
  return ImageDecoder(checked(given, image_options(), "[data.train]"));
}

Bytes decoded(const std::string& encoded, const std::string& channels = "4") {
  const auto decoder = decoder_with("channels", channels);
  const auto field = decoder.field("image", decoder.size_of(bytes_in(encoded), "image 'x'"));
  Bytes pixels(sample_bytes(field));
  decoder.decode(bytes_in(encoded), "image 'x'", field, reinterpret_cast<std::byte*>(pixels.data()));
  return pixels;
}

/// Calls `check` for each example of each codec that was built.
template <class Check>
void for_each_example(const Check& check) {
  for (const auto* codec : image_codec_table()) {
    if (codec->open == nullptr) {
      test::skip(std::string(codec->name) + " images: trainrt was built without " + std::string(codec->package));
      continue;
    }
    const auto examples = examples_of(*codec);
    CHECK(!examples.empty());  // a new codec needs examples
    for (const auto& example : examples) {
      INFO(example.codec << ": " << example.kind);
      check(example);
    }
  }
}

void check_near(const Bytes& pixels, const Bytes& expected, int levels) {
  REQUIRE(pixels.size() == expected.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    CAPTURE(i, static_cast<int>(pixels[i]), static_cast<int>(expected[i]));
    CHECK(std::abs(static_cast<int>(pixels[i]) - static_cast<int>(expected[i])) <= levels);
  }
}

/// Returns R, G and B of each pixel, or its gray value if `as_gray`.
Bytes without_alpha(const Bytes& rgba, bool as_gray) {
  Bytes pixels;
  for (std::size_t i = 0; i < rgba.size(); i += 4)
    if (as_gray)
      pixels.push_back(gray_of(&rgba[i]));
    else
      pixels.insert(pixels.end(), &rgba[i], &rgba[i + 3]);
  return pixels;
}

}  // namespace

TEST_CASE("every image codec decodes its images to gray, RGB and RGBA") {
  for_each_example([](const Example& example) {
    const int levels = example.codec == "JPEG" ? 3 : 0;
    CHECK(decoder_with("size", "").size_of(bytes_in(example.encoded), "image 'x'") == example.size);
    check_near(decoded(example.encoded, "4"), example.rgba, levels);
    check_near(decoded(example.encoded, "3"), without_alpha(example.rgba, false), levels);
    check_near(decoded(example.encoded, "1"), without_alpha(example.rgba, true), levels);
  });
}

TEST_CASE("exactly one image codec recognizes an image, from its first 12 bytes") {
  for_each_example([](const Example& example) {
    for (const auto* codec : image_codec_table())
      CHECK(codec->is_of(bytes_in(example.encoded).first(12)) == (codec->name == example.codec));
  });
}

TEST_CASE("a truncated image of any length is an error that names the image, or has all of its pixels") {
  for_each_example([](const Example& example) {
    const auto pixels = decoded(example.encoded);
    for (std::size_t length = 0; length < example.encoded.size(); ++length) {
      CAPTURE(length);
      const auto cut = example.encoded.substr(0, length);
      Bytes found;
      const auto error = error_of([&] { found = decoded(cut); });
      if (error.empty() && length > example.encoded.size() / 2)
        CHECK(found == pixels);
      else
        CHECK_THAT(error, Contains("image 'x' is "));
    }
  });
}

TEST_CASE("an image with a wrong byte is an error that names the image, or decodes to pixels of its size") {
  for_each_example([](const Example& example) {
    const auto decoder = decoder_with("max_pixels", "100000");
    for (std::size_t i = 0; i < example.encoded.size(); ++i)
      for (const char mask : {'\x01', '\x80', '\xff'}) {
        CAPTURE(i);
        auto wrong = example.encoded;
        wrong[i] = static_cast<char>(wrong[i] ^ mask);
        const auto error = error_of([&] {
          const auto field = decoder.field("image", decoder.size_of(bytes_in(wrong), "image 'x'"));
          Bytes pixels(sample_bytes(field));
          decoder.decode(bytes_in(wrong), "image 'x'", field, reinterpret_cast<std::byte*>(pixels.data()));
        });
        if (!error.empty()) CHECK_THAT(error, Contains("image 'x' "));
      }
  });
}

TEST_CASE("an image of more pixels than max_pixels is an error that names both numbers") {
  for_each_example([](const Example& example) {
    const auto pixels = example.size.pixels();
    const auto size = std::to_string(example.size.height) + " x " + std::to_string(example.size.width);
    CHECK_NOTHROW(decoder_with("max_pixels", std::to_string(pixels)).size_of(bytes_in(example.encoded), "image 'x'"));
    if (pixels > 1)
      CHECK_THROWS_WITH(
          decoder_with("max_pixels", std::to_string(pixels - 1)).size_of(bytes_in(example.encoded), "image 'x'"),
          "image 'x' has " + size + " pixels, more than max_pixels = " + std::to_string(pixels - 1));
  });
}

TEST_CASE("several threads decode an image to the same pixels") {
  for_each_example([](const Example& example) {
    const auto expected = decoded(example.encoded);
    std::vector<Bytes> results(4);
    {
      std::vector<std::jthread> threads;
      for (auto& result : results) threads.emplace_back([&] { result = decoded(example.encoded); });
    }
    for (const auto& result : results) CHECK(result == expected);
  });
}

TEST_CASE("an image without bytes and one of an unknown format are errors that list the supported formats") {
  const auto decoder = decoder_with("size", "");
  CHECK_THROWS_WITH(decoder.size_of({}, "image 'x'"), "image 'x' is empty");
  const std::string text = "<html>not found</html>";
  for (const auto* codec : image_codec_table())
    CHECK_THROWS_WITH(decoder.size_of(bytes_in(text), "image 'x'"),
                      Contains("image 'x'") && Contains(std::string(codec->name)));
}

TEST_CASE("a codec that was not built is an error that names the package") {
  for (const auto* codec : image_codec_table()) {
    CHECK_FALSE(codec->package.empty());
    if (codec->open != nullptr) continue;
    for (const auto& example : examples_of(*codec))
      CHECK_THROWS_WITH(decoded(example.encoded),
                        Contains(std::string(codec->name)) && Contains(std::string(codec->package)));
  }
}

TEST_CASE("a PNG image without pixels and an animated WebP image are errors that name the problem") {
  const auto empty = bytes_of_hex(
      "89504e470d0a1a0a0000000d4948445200000000000000010800000000d5bcf06b0000000949444154789c6300000001"
      "00015eff7df9"
      "0000000049454e44ae426082");
  for (const auto* codec : image_codec_table()) {
    if (codec->open == nullptr) continue;
    if (codec->name == "PNG") CHECK_THROWS_WITH(decoded(empty), Contains("image 'x'") && Contains("width"));
    if (codec->name == "WebP")
      CHECK_THROWS_WITH(decoded(test::webp_animated()), Contains("image 'x'") && Contains("animated"));
  }
}
