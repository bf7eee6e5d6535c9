#include <numeric>

#include <trainrt/error.hpp>

#include "data/tokens/token_windows.hpp"
#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

using Section = std::map<std::string, std::string>;
using Ids = std::vector<std::int32_t>;

template <class T>
std::string counting_tokens(std::size_t count) {
  std::vector<T> ids(count);
  std::iota(ids.begin(), ids.end(), T{});
  return values_of(ids);
}

Section with(Section section, const Section& more) {
  for (const auto& [key, value] : more) section[key] = value;
  return section;
}

/// Returns the ids of all windows, one window after another.
Ids windows_of(const Section& section) {
  const auto dataset = open(section);
  std::vector<std::uint64_t> all(dataset->source()->size());
  std::iota(all.begin(), all.end(), 0);
  const auto together = gathered<std::int32_t>(*dataset, 0, all);
  Ids alone;
  for (const auto number : all)
    for (const auto id : gathered<std::int32_t>(*dataset, 0, {number})) alone.push_back(id);
  CHECK(together == alone);
  return together;
}

}  // namespace

TEST_CASE("a window of a flat file has length tokens and the first token of the next window") {
  Scratch dir;
  const auto path = dir / "train.bin";
  write(path, counting_tokens<std::uint16_t>(11));
  const Section section{{"source", path}, {"length", "4"}};
  const auto dataset = open(section);
  REQUIRE(dataset->source()->size() == 2);
  REQUIRE(dataset->source()->fields().size() == 1);
  CHECK(dataset->source()->fields()[0].name == "tokens");
  CHECK(dataset->source()->fields()[0].dtype == DType::i32);
  CHECK(dataset->source()->fields()[0].sample_shape == Shape{5});
  CHECK(windows_of(section) == Ids{0, 1, 2, 3, 4, 4, 5, 6, 7, 8});
  CHECK(windows_of(with(section, {{"next_token", "false"}})) == Ids{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(windows_of(with(section, {{"stride", "6"}})) == Ids{0, 1, 2, 3, 4, 6, 7, 8, 9, 10});
  CHECK(windows_of(with(section, {{"stride", "3"}})) == Ids{0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10});
  CHECK(windows_of(with(section, {{"header", "12"}})) == Ids{6, 7, 8, 9, 10});
}

TEST_CASE("with pad, the end of a file is a window, and the field count is its number of tokens") {
  Scratch dir;
  const auto path = dir / "train.bin";
  const auto counts_of = [&](std::size_t tokens) {
    write(path, counting_tokens<std::uint16_t>(tokens));
    const auto dataset = open({{"source", path}, {"length", "4"}, {"pad", "99"}});
    CHECK(dataset->source()->fields()[1].name == "count");
    std::vector<std::uint64_t> all(dataset->source()->size());
    std::iota(all.begin(), all.end(), 0);
    return gathered<std::int32_t>(*dataset, 1, all);
  };
  CHECK(counts_of(2) == Ids{2});
  CHECK(counts_of(5) == Ids{5});
  CHECK(counts_of(6) == Ids{5, 2});
  CHECK(counts_of(9) == Ids{5, 5});
  CHECK(counts_of(11) == Ids{5, 5, 3});
  CHECK(windows_of({{"source", path}, {"length", "4"}, {"pad", "99"}}) ==
        Ids{0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 99, 99});
}

TEST_CASE("with document_end, no window extends beyond the end of a document") {
  Scratch dir;
  const auto path = dir / "train.bin";
  write(path, values_of<std::uint16_t>({1, 2, 3, 0, 0, 4, 5, 0, 6, 7, 8, 9, 10, 11, 12}));
  const Section section{{"source", path}, {"length", "3"}, {"document_end", "0"}};
  CHECK(windows_of(section) == Ids{1, 2, 3, 0, 6, 7, 8, 9, 9, 10, 11, 12});
  CHECK(windows_of(with(section, {{"pad", "99"}})) == Ids{1, 2, 3, 0, 4, 5, 0, 99, 6, 7, 8, 9, 9, 10, 11, 12});
  CHECK(windows_of(with(section, {{"pad", "0"}, {"next_token", "false"}})) ==
        Ids{1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 5, 0, 6, 7, 8, 9, 10, 11, 12, 0, 0});
}

TEST_CASE("windows are equal to those of a loop over the tokens, for every form") {
  for (std::uint64_t tokens = 1; tokens < 6; ++tokens)
    for (std::uint64_t stride = 1; stride < 8; ++stride)
      for (std::uint64_t min_tokens = 0; min_tokens < 3; ++min_tokens)
        for (std::uint64_t document = 0; document < 20; ++document) {
          INFO(tokens << " " << stride << " " << min_tokens << " " << document);
          std::uint64_t expected = 0, covered = 0, first = 0;
          for (; first + tokens <= document; first += stride, ++expected) covered = first + tokens;
          const bool has_rest = min_tokens > 0 && covered < document && first < document && document - first >= min_tokens;
          CHECK(data::WindowForm{stride, tokens, min_tokens}.windows_in(document) == expected + (has_rest ? 1 : 0));
        }
}

TEST_CASE("tokens of every type are read; .npy files declare their type") {
  Scratch dir;
  const auto first_of = [&](const std::string& name, const std::string& bytes, const Section& more = {}) {
    write(dir / name, bytes);
    const auto dataset = open(with({{"format", "tokens"}, {"source", dir / name}, {"length", "2"}}, more));
    const auto found = gathered<char>(*dataset, 0, {0});
    return std::pair(dataset->source()->fields()[0].dtype, std::string(found.begin(), found.end()));
  };
  const auto narrow = std::pair(DType::i32, values_of<std::int32_t>({7, 65535, 9}));
  CHECK(first_of("x", values_of<std::uint16_t>({7, 65535, 9})) == narrow);
  CHECK(first_of("x", values_of<std::uint32_t>({7, 65535, 9}), {{"dtype", "u32"}}) == narrow);
  CHECK(first_of("x", values_of<std::int32_t>({7, 65535, 9}), {{"dtype", "i32"}}) == narrow);
  CHECK(first_of("x", "abc", {{"dtype", "u8"}}) == std::pair(DType::u8, std::string("abc")));
  const auto wide = values_of<std::int64_t>({7, 1LL << 40, 9});
  CHECK(first_of("x", wide, {{"dtype", "i64"}}) == std::pair(DType::i64, wide));
  const auto npy = [](const std::string& descr, const std::string& values) {
    return npy_bytes("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,)}", values);
  };
  CHECK(first_of("x.npy", npy("<u2", values_of<std::uint16_t>({7, 65535, 9}))) == narrow);
  CHECK(first_of("x.npy", npy(">u2", std::string("\x00\x07\xff\xff\x00\x09", 6))) == narrow);
  CHECK(first_of("x.npy", npy("<u4", values_of<std::uint32_t>({7, 65535, 9})), {{"dtype", "u32"}}) == narrow);
  CHECK(first_of("x.npy", npy("<i2", values_of<std::int16_t>({7, 8, 9}))) ==
        std::pair(DType::i16, values_of<std::int16_t>({7, 8, 9})));
  CHECK_THROWS_WITH(first_of("x.npy", npy("<u2", "abcdef"), {{"dtype", "u32"}}),
                    Contains("x.npy") && Contains("header has u16"));
  CHECK_THROWS_WITH(first_of("x.npy", npy("<u2", "abcdef"), {{"header", "2"}}),
                    Contains("the key 'header' is only valid for flat files"));
  CHECK_THROWS_WITH(first_of("x.npy", npy("<f4", "abcdabcdabcd")), Contains("x.npy") && Contains("type f4"));
  CHECK_THROWS_WITH(first_of("x.npy", npy("<u8", std::string(24, '\0'))), Contains("type u8 and shape [3]"));
}

TEST_CASE("token files give the same windows from memory and from the file") {
  Scratch dir;
  const auto path = dir / "train.bin";
  constexpr std::size_t count = 60'000;
  write(path, counting_tokens<std::uint16_t>(count));
  for (const std::string memory : {"0", "1 MiB"}) {
    const Section section{{"source", path}, {"length", "8"}, {"memory", memory}};
    const auto dataset = open(section);
    CHECK(dataset->source()->is_resident() == (memory != "0"));
    REQUIRE(dataset->source()->size() == (count - 1) / 8);
    Ids expected;
    for (std::int32_t window = 0; window < static_cast<std::int32_t>(dataset->source()->size()); ++window)
      for (std::int32_t i = 0; i < 9; ++i) expected.push_back(window * 8 + i);
    CHECK(windows_of(section) == expected);
  }
}

TEST_CASE("a token file that does not fit the section is an error that names it") {
  Scratch dir;
  const auto path = dir / "x.bin";
  const Section section{{"source", path}, {"length", "2"}};
  write(path, "12345");
  both_say(section, "x.bin", "not a multiple of 2, the size of a token of type u16");
  write(path, "123456");
  both_say(with(section, {{"header", "7"}}), "x.bin", "less than header = 7");
  both_say(with(section, {{"document_end", "65536"}}), "x.bin", "document_end = 65536 is invalid");
  both_say(with(section, {{"pad", "65536"}}), "x.bin", "pad = 65536 is invalid");
  both_say(with(section, {{"length", "3"}}), "[data.train]", "no samples");
  CHECK_THROWS_WITH(check({{"source", path}}), Contains("length"));
  CHECK_THROWS_WITH(check(with(section, {{"length", "0"}})), Contains("length") && Contains("from 1 to"));
  CHECK_THROWS_WITH(check(with(section, {{"dtype", "f32"}})), Contains("dtype") && Contains("u8, u16"));
  write(path, values_of<std::uint32_t>({1, 2, 3, 4, 3000000000, 5, 6}));
  const auto dataset = open(with(section, {{"dtype", "u32"}}));
  CHECK(gathered<std::int32_t>(*dataset, 0, {0}) == Ids{1, 2, 3});
  CHECK_THROWS_WITH(gathered<std::int32_t>(*dataset, 0, {2}), Contains("x.bin: the token at index 4 has id 3000000000"));
  CHECK_THROWS_WITH(gathered<std::int32_t>(*dataset, 0, {0, 1, 2}), Contains("the token at index 4 has id 3000000000"));
}
