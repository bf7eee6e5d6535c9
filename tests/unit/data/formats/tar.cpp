#include "support/cpp/tar_bytes.hpp"

#include <trainrt/error.hpp>

#include "support/cpp/image_bytes.hpp"
#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using namespace trainrt::test;

namespace {

const std::vector<std::uint8_t> pixels_2x3{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 40, 50, 60, 70, 80, 90};

std::string npy_of(const std::string& values) {
  return npy_bytes("{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", values);
}

/// Returns an archive of two samples. Each has an image, a class, a text and an array.
std::string samples() {
  return tar_of({tar_entry("./a/", "", '5'), tar_entry("./a/0.png", png_2x3()), tar_entry("./a/0.CLS", " 7\n"),
                 tar_entry("./a/0.txt", "null"), tar_entry("./a/0.npy", npy_of({1, 0, 2, 0})),
                 tar_entry("./a/1.png", webp_2x3()), tar_entry("./a/1.cls", "-1"), tar_entry("./a/1.txt", ""),
                 tar_entry("./a/1.npy", npy_of({3, 0, 4, 0}))});
}

std::map<std::string, std::string> at(const Scratch& dir, const std::string& bytes) {
  write(dir / "x.tar", bytes);
  return {{"source", dir / "x.tar"}};
}

std::string text_of(const DatasetImpl& dataset, std::size_t field, std::uint64_t sample) {
  const auto bytes = gathered<char>(dataset, field, {sample});
  return {bytes.begin(), bytes.end()};
}

void refused(const std::string& archive, const std::string& what, const std::string& why) {
  const Scratch dir;
  const auto keys = at(dir, archive);
  CHECK_THROWS_WITH(check(keys), Contains("[data.train]") && Contains("x.tar") && Contains(what) && Contains(why));
}

const std::string one = tar_entry("0.txt", "a");

}  // namespace

TEST_CASE("consecutive entries with the same base name are a sample, with the extensions as fields") {
  const Scratch dir;
  auto keys = at(dir, samples());
  for (const std::string memory : {"256 MiB", "1 B"}) {  // the values are kept in memory, or read at their offsets
    keys["memory"] = memory;
    const auto dataset = open(keys);
    REQUIRE(dataset->source()->size() == 2);
    const auto& fields = dataset->source()->fields();
    REQUIRE(fields.size() == 4);
    CHECK(data::in_words(fields) == "png u8[2, 3, 3], cls i64[], txt u8[varies], npy i16[2]");
    CHECK(gathered<std::uint8_t>(*dataset, 0, {1}) == pixels_2x3);
    CHECK(gathered<std::int64_t>(*dataset, 1, {1, 0}) == std::vector<std::int64_t>{-1, 7});
    CHECK(text_of(*dataset, 2, 0) == "null");
    CHECK(text_of(*dataset, 2, 1).empty());
    CHECK(gathered<std::int16_t>(*dataset, 3, {1, 0}) == std::vector<std::int16_t>{3, 4, 1, 2});
  }
}

TEST_CASE("the key fields chooses and renames fields, also with several extensions") {
  const Scratch dir;
  auto keys = at(dir, tar_of({tar_entry("d/0.jpg", jpeg_8x16()), tar_entry("d/0.json", "{}"), tar_entry("d/1.seg.png", "?"),
                              tar_entry("d/1.jpeg", jpeg_8x16())}));
  CHECK_THROWS_WITH(check(keys), Contains("d/1") && Contains("seg.png"));
  keys["fields"] = "image=jpg;jpeg, __key__";
  const auto dataset = open(keys);
  CHECK(data::in_words(dataset->source()->fields()) == "image u8[8, 16, 3], __key__ u8[varies]");
  CHECK(text_of(*dataset, 1, 1) == "d/1");
  for (const std::string bad : {"image=", "=jpg", "jpg, jpg", "x=jpg;cls"}) {
    keys["fields"] = bad;
    CHECK_THROWS_WITH(check(keys), Contains("fields"));
  }
}

TEST_CASE("long names of GNU and pax, prefixes, and entries without a sample are read") {
  const Scratch dir;
  const std::string name(300, 'n');
  const auto dataset =
      open({{"source", at(dir, tar_of({tar_entry("././@LongLink", name + ".txt" + '\0', 'L'), tar_entry("cut", "gnu"),
                                       tar_entry("h", pax_record("mtime", "1.5") + pax_record("path", "ü.txt"), 'x'),
                                       tar_entry("cut", "pax"), tar_entry("2.txt", "prefix", '0', -1, "in/a/folder"),
                                       tar_entry("README", "?"), tar_entry(".hidden.txt", "?")}))
                           .at("source")},
            {"fields", "txt, __key__"}});
  REQUIRE(dataset->source()->size() == 3);
  CHECK(text_of(*dataset, 1, 0) == name);
  CHECK(text_of(*dataset, 0, 0) == "gnu");
  CHECK(text_of(*dataset, 1, 1) == "ü");
  CHECK(text_of(*dataset, 0, 2) == "prefix");
  CHECK(text_of(*dataset, 1, 2) == "in/a/folder/2");
}

TEST_CASE("many small and large entries are read at their offsets") {
  const Scratch dir;
  std::vector<std::string> entries;
  for (int i = 0; i < 300; ++i) {
    entries.push_back(
        tar_entry(std::to_string(i) + ".bin", std::string(static_cast<std::size_t>(i % 7 == 0 ? 40000 : 10 * i), 'x')));
    entries.push_back(tar_entry(std::to_string(i) + ".cls", std::to_string(i * i)));
  }
  auto keys = at(dir, tar_of(entries));
  keys["memory"] = "1 MiB";
  const auto dataset = open(keys);
  REQUIRE(dataset->source()->size() == 300);
  for (const std::uint64_t i : {299, 5, 7, 0, 298}) {
    CHECK(text_of(*dataset, 0, i).size() == (i % 7 == 0 ? 40000 : 10 * i));
    CHECK(gathered<std::int64_t>(*dataset, 1, {i}) == std::vector<std::int64_t>{static_cast<std::int64_t>(i * i)});
  }
}

TEST_CASE("names that lead out of the archive, and entries that are no files, are errors that name the entry") {
  for (const std::string name : {"../0.txt", "/etc/0.txt", "a/../../0.txt", "./../0.txt", "a/.."})
    refused(tar_of({one, tar_entry(name, "x")}), name.substr(name.starts_with("./") ? 2 : 0),
            "is absolute or contains '..'");
  refused(tar_of({one, tar_entry("1.txt", "", '2')}), "1.txt", "link");
  refused(tar_of({one, tar_entry("1.txt", "", '1')}), "1.txt", "link");
  refused(tar_of({one, tar_entry("1.txt", "", '3')}), "1.txt", "device");
  refused(tar_of({one, tar_entry("1.txt", "", '6')}), "1.txt", "device");
  refused(tar_of({one, tar_entry("1.txt", "x", 'S')}), "1.txt", "sparse");
  refused(tar_of({one, tar_entry("h", pax_record("GNU.sparse.major", "1"), 'x'), tar_entry("1.txt", "x")}), "1.txt",
          "sparse");
  refused(tar_of({one, tar_entry("1.txt", "x", 'Z')}), "1.txt", "kind");
}

TEST_CASE("wrong sizes, damage and truncation are errors that name the position") {
  refused(tar_of({one, tar_entry("1.txt", "x", '0', 1 << 20)}), "1.txt", "1048576");
  refused(tar_of({one, tar_entry("h", pax_record("size", "99999999999"), 'x'), tar_entry("1.txt", "x")}), "1.txt",
          "99999999999");
  refused(tar_of({one, tar_entry("h", pax_record("size", "-1"), 'x'), tar_entry("1.txt", "x")}), "byte 1024", "size");
  refused(tar_of({one, tar_entry("h", "99 path=x\n", 'x'), tar_entry("1.txt", "x")}), "byte 1024", "extended header");
  refused(tar_of({one, tar_entry("h", "x", 'L', 1LL << 33), tar_entry("1.txt", "x")}), "byte 1024", "long name");
  refused(one + tar_entry("1.txt", "b"), "byte 2048", "truncated");
  refused(one + std::string(100, '\0'), "byte 1024", "truncated");
  refused((one + tar_entry("h", pax_record("path", "p"), 'x')).substr(0, 1024 + 512 + 100), "byte 1636", "truncated");
  refused((one + tar_entry("1.txt", "b")).substr(0, 1024 + 512 + 100), "byte 1636", "truncated");
  refused(tar_of({one}) + tar_of({one}), "byte 1024", "cat");
  auto flipped = tar_of({one});
  flipped[3] = 'X';
  refused(flipped, "byte 0", "not a tar archive");
  refused(std::string(2048, 'x'), "byte 0", "not a tar archive");
  refused(tar_of({}), "x.tar", "no samples");
  refused(std::string("\x1f\x8b\x08 packed"), "gzip", "gunzip");
}

TEST_CASE("a sample that lacks a field or has it twice is an error that names it, or is left out by on_error") {
  const Scratch dir;
  auto keys =
      at(dir, tar_of({tar_entry("0.txt", "a"), tar_entry("0.cls", "1"), tar_entry("1.txt", "b"), tar_entry("2.txt", "c"),
                      tar_entry("2.cls", "two"), tar_entry("3.txt", "d"), tar_entry("3.cls", "3"), tar_entry("4.txt", "e"),
                      tar_entry("4.txt", "f"), tar_entry("4.cls", "4")}));
  CHECK_THROWS_WITH(check(keys), Contains("x.tar") && Contains("'1'") && Contains("no .cls"));
  keys["on_error"] = "skip";
  const auto dataset = open(keys);
  CHECK(gathered<std::int64_t>(*dataset, 1, {0, 1}) == std::vector<std::int64_t>{1, 3});
  REQUIRE(dataset->source()->size() == 2);
  keys.erase("on_error");
  keys["fields"] = "txt";
  CHECK_THROWS_WITH(check(keys), Contains("'4'") && Contains("two entries"));
}

TEST_CASE("an invalid image or array is an error that names archive, sample and field") {
  const Scratch dir;
  const auto cut = png_2x3().substr(0, 60);
  auto keys = at(dir, tar_of({tar_entry("0.png", png_2x3()), tar_entry("1.png", cut), tar_entry("2.png", jpeg_8x16())}));
  keys["memory"] = "1 B";
  const auto dataset = open(keys);
  CHECK_THROWS_WITH(gathered<std::uint8_t>(*dataset, 0, {1}),
                    Contains("x.tar") && Contains("'1'") && Contains("damaged PNG"));
  CHECK_THROWS_WITH(gathered<std::uint8_t>(*dataset, 0, {2}), Contains("'2'") && Contains("8 x 16") && Contains("2 x 3"));
  keys =
      at(dir, tar_of({tar_entry("0.npy", npy_of("abcd")),
                      tar_entry("1.npy", npy_bytes("{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}", "abcdef"))}));
  CHECK_THROWS_WITH(gathered<std::int16_t>(*open(keys), 0, {1}), Contains("'1'") && Contains("[3]") && Contains("[2]"));
}

TEST_CASE("an entry of more than max_file_bytes is refused before it is read") {
  const Scratch dir;
  auto keys = at(dir, tar_of({one, tar_entry("1.txt", std::string(5000, 'x'))}));
  keys["max_file_bytes"] = "4096 B";
  CHECK_THROWS_WITH(check(keys), Contains("'1'") && Contains("5000") && Contains("max_file_bytes"));
}
