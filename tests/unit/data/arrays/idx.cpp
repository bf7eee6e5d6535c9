#include <algorithm>
#include <array>

#include <zlib.h>
#include <trainrt/error.hpp>

#include "support/cpp/skip.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::string idx_bytes(char type, const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const auto extent : shape)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift);
  return bytes + values;
}

std::string counting(std::size_t count) {
  std::string values;
  for (std::size_t i = 0; i < count; ++i) values += static_cast<char>(i * 7);
  return values;
}

void write_gzip(const std::string& path, const std::string& bytes, const char* mode = "wb") {
  auto* file = gzopen(path.c_str(), mode);
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

const std::string fashion = "/usr/share/datasets/fashion-mnist/";

bool fashion_is_there() {
  if (fs::exists(fashion + "train-images-idx3-ubyte.gz")) return true;
  trainrt::test::skip("the package dataset-fashion-mnist is not installed");
  return false;
}

}  // namespace

TEST_CASE("plain and gzip IDX files give images and labels; the name determines the format") {
  Scratch dir;
  const auto images = idx_bytes(0x08, {5, 2, 3}, counting(30)), labels = idx_bytes(0x08, {5}, counting(5));
  write(dir / "a-idx3-ubyte", images);
  write(dir / "a-idx1-ubyte", labels);
  write_gzip(dir / "a-idx3-ubyte.gz", images);
  write_gzip(dir / "a.idx1-ubyte.gz", labels);
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [source, label] : {Pair{"a-idx3-ubyte", "a-idx1-ubyte"}, Pair{"a-idx3-ubyte.gz", "a.idx1-ubyte.gz"}}) {
    const std::map<std::string, std::string> values{{"source", dir / source}, {"labels", dir / label}};
    check(values);
    const auto dataset = open(values);
    REQUIRE(dataset->source()->size() == 5);
    const auto& fields = dataset->source()->fields();
    REQUIRE(fields.size() == 2);
    CHECK(fields[0].name == "images");
    CHECK(fields[0].dtype == DType::u8);
    CHECK(fields[0].sample_shape == Shape{2, 3});
    CHECK(fields[1].name == "labels");
    CHECK(fields[1].sample_shape.empty());
    const auto pixels = gathered<std::uint8_t>(*dataset, 0, {4, 0});
    CHECK(pixels == std::vector<std::uint8_t>{168, 175, 182, 189, 196, 203, 0, 7, 14, 21, 28, 35});
    CHECK(gathered<std::uint8_t>(*dataset, 1, {3, 3, 1}) == std::vector<std::uint8_t>{21, 21, 7});
  }
}

TEST_CASE("IDX values of every type arrive in this machine's byte order") {
  Scratch dir;
  write(dir / "i16", idx_bytes(0x0B, {2}, std::string("\x01\x02\xff\xfe", 4)));
  write(dir / "i32", idx_bytes(0x0C, {1}, std::string("\x00\x01\x02\x03", 4)));
  write(dir / "f32", idx_bytes(0x0D, {1}, std::string("\x3f\xc0\x00\x00", 4)));
  write(dir / "f64", idx_bytes(0x0E, {1}, std::string("\xc0\x04\x00\x00\x00\x00\x00\x00", 8)));
  const auto dataset = [&](const char* name) { return open({{"format", "idx"}, {"source", dir / name}}); };
  CHECK(gathered<std::int16_t>(*dataset("i16"), 0, {0, 1}) == std::vector<std::int16_t>{0x0102, -2});
  CHECK(gathered<std::int32_t>(*dataset("i32"), 0, {0}) == std::vector<std::int32_t>{0x00010203});
  CHECK(gathered<float>(*dataset("f32"), 0, {0}) == std::vector<float>{1.5F});
  CHECK(gathered<double>(*dataset("f64"), 0, {0}) == std::vector<double>{-2.5});
  CHECK(dataset("f64")->source()->fields()[0].dtype == DType::f64);
}

TEST_CASE("check and open refuse a plain IDX file that is cut anywhere") {
  Scratch dir;
  const auto whole = idx_bytes(0x08, {5, 2, 3}, counting(30));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(dir / "cut-idx3-ubyte", whole.substr(0, length));
    both_say({{"source", dir / "cut-idx3-ubyte"}}, "cut-idx3-ubyte", length < 16 ? "too short" : "truncated");
  }
}

TEST_CASE("check and open refuse a gzip IDX file that is cut anywhere") {
  Scratch dir;
  write_gzip(dir / "whole", idx_bytes(0x08, {40, 2, 3}, counting(240)));
  const auto whole = read(dir / "whole");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length, whole.size());
    write(dir / "cut-idx3-ubyte.gz", whole.substr(0, length));
    const std::map<std::string, std::string> values{{"source", dir / "cut-idx3-ubyte.gz"}};
    CHECK_THROWS_WITH(open(values), Contains("cut-idx3-ubyte.gz"));
    // The last 8 bytes hold only the trailer. All data can be present without it, so check() need not report the cut.
    if (length + 8 < whole.size()) CHECK_THROWS_WITH(check(values), Contains("cut-idx3-ubyte.gz"));
  }
}

TEST_CASE("a gzip IDX file with a wrong checksum is an error of open that names the file") {
  Scratch dir;
  const auto path = dir / "x-idx1-ubyte.gz";
  const auto write_values = [&](std::uint32_t count, const char* mode) {
    write_gzip(path, idx_bytes(0x08, {count}, counting(count)), mode);
    return read(path);
  };
  // The trailer of the second file begins in a piece of 256 KiB that need not be read to get all values.
  constexpr std::uint32_t eight_pieces = 8 << 18;
  constexpr std::uint32_t near = eight_pieces - 200;  // has as many blocks as the final size
  const auto overhead = static_cast<std::uint32_t>(write_values(near, "wb0").size()) - near;
  auto large = write_values(eight_pieces + 7 - overhead, "wb0");
  REQUIRE(large.size() == eight_pieces + 7);
  for (auto bytes : {write_values(1000, "wb"), large}) {
    bytes[bytes.size() - 7] = static_cast<char>(bytes[bytes.size() - 7] ^ 1);
    write(path, bytes);
    CHECK_THROWS_WITH(open({{"source", path}}), Contains("x-idx1-ubyte.gz") && Contains("damaged"));
  }
}

TEST_CASE("gzip data of an IDX file that expands to more than max_expanded_bytes is an error that names file and limit") {
  const Scratch dir;
  write_gzip(dir / "a-idx2-ubyte.gz", idx_bytes(0x08, {1024, 2048}, std::string(1024 * 2048, '\0')));
  CHECK(fs::file_size(dir / "a-idx2-ubyte.gz") < 4000);
  const std::string source = dir / "a-idx2-ubyte.gz";
  CHECK(open({{"source", source}})->source()->size() == 1024);
  both_say({{"source", source}, {"max_expanded_bytes", "1 MiB"}}, source, "max_expanded_bytes = 1048576");
}

TEST_CASE("no memory is allocated for a size that a gzip IDX file cannot hold") {
  Scratch dir;
  const auto path = dir / "x-idx3-ubyte.gz";
  write_gzip(path, idx_bytes(0x08, {1, 65536, 65536},
                             ""));  // the header declares 4 GiB, and the trailer has this size modulo 2^32
  CHECK_THROWS_WITH(check({{"source", path}}), Contains("is truncated: it holds 16 bytes"));
  write_gzip(path,
             idx_bytes(0x08, {1 << 30, 1 << 30, 4}, ""));  // the header declares 2^62 bytes, more than any machine has
  CHECK_THROWS_WITH(open({{"source", path}}), Contains("is truncated: it holds 16 bytes"));
}

TEST_CASE("samples of an IDX file with an axis of extent 0 have no values, and can be read") {
  Scratch dir;
  write(dir / "x-idx2-ubyte", idx_bytes(0x08, {2, 0}, ""));
  const auto dataset = open({{"source", dir / "x-idx2-ubyte"}});
  CHECK(dataset->source()->size() == 2);
  CHECK(gathered<std::uint8_t>(*dataset, 0, {1, 0}).empty());
}

TEST_CASE("a gzip file of two members is read completely") {
  Scratch dir;
  const auto whole = idx_bytes(0x08, {30}, counting(30));
  write_gzip(dir / "first", whole.substr(0, 20));
  write_gzip(dir / "second", whole.substr(20));
  write(dir / "two-idx1-ubyte.gz", read(dir / "first") + read(dir / "second"));
  const std::map<std::string, std::string> values{{"source", dir / "two-idx1-ubyte.gz"}};
  check(values);
  CHECK(gathered<std::uint8_t>(*open(values), 0, {29}) == std::vector<std::uint8_t>{203});
}

TEST_CASE("a file that is no IDX file is an error that shows its first bytes and the valid ones") {
  Scratch dir;
  write(dir / "x-idx3-ubyte", "\x89PNG and so on");
  both_say({{"source", dir / "x-idx3-ubyte"}}, "x-idx3-ubyte", "89504e47");
  both_say({{"source", dir / "y-idx3-ubyte"}}, "y-idx3-ubyte", "does not exist");
  fs::create_directory(dir / "d-idx3-ubyte");
  both_say({{"source", dir / "d-idx3-ubyte"}}, "d-idx3-ubyte", "is a folder without files");
  write(dir / "big-idx3-ubyte", idx_bytes(0x0E, {0xffffffff, 0xffffffff, 0xffffffff}, ""));
  both_say({{"source", dir / "big-idx3-ubyte"}}, "big-idx3-ubyte", "more values than a file can hold");
  write(dir / "none-idx1-ubyte", idx_bytes(0x08, {0}, ""));
  both_say({{"source", dir / "none-idx1-ubyte"}}, "none-idx1-ubyte", "no samples");
}

TEST_CASE("an IDX header with more than 32 dimensions is an error that gives their number, not their sizes") {
  Scratch dir;
  write(dir / "deep-idx3-ubyte", idx_bytes(0x08, std::vector<std::uint32_t>(33, 1), std::string(1, '\1')));
  both_say({{"source", dir / "deep-idx3-ubyte"}}, "deep-idx3-ubyte",
           "its header has 33 dimensions; at most 32 can be read");
}

TEST_CASE("images and labels of different counts are an error that names both files and counts") {
  Scratch dir;
  write(dir / "a-idx3-ubyte", idx_bytes(0x08, {5, 1, 1}, counting(5)));
  write(dir / "a-idx1-ubyte", idx_bytes(0x08, {4}, counting(4)));
  const std::map<std::string, std::string> values{{"source", dir / "a-idx3-ubyte"}, {"labels", dir / "a-idx1-ubyte"}};
  both_say(values, "a-idx3-ubyte has 5", "a-idx1-ubyte has 4");
}

TEST_CASE("the real FashionMNIST: 60000 images of 28 x 28, each of 10 labels 6000 times") {
  if (!fashion_is_there()) return;
  const std::map<std::string, std::string> values{{"source", fashion + "train-images-idx3-ubyte.gz"},
                                                  {"labels", fashion + "train-labels-idx1-ubyte.gz"}};
  check(values);
  const auto dataset = open(values);
  REQUIRE(dataset->source()->size() == 60000);
  CHECK(dataset->source()->fields()[0].sample_shape == Shape{28, 28});
  std::vector<std::uint64_t> all(60000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::array<int, 256> histogram{};
  for (const auto label : gathered<std::uint8_t>(*dataset, 1, all)) ++histogram[label];
  for (std::size_t label = 0; label < 256; ++label) CHECK(histogram[label] == (label < 10 ? 6000 : 0));
}

TEST_CASE("check refuses a truncated copy of the real FashionMNIST") {
  if (!fashion_is_there()) return;
  Scratch dir;
  const auto whole = read(fashion + "t10k-images-idx3-ubyte.gz");
  write(dir / "t10k-images-idx3-ubyte.gz", whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH(check({{"source", dir / "t10k-images-idx3-ubyte.gz"}}), Contains("truncated"));
}
