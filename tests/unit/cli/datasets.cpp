// Tests of functions that the tools of `trainrt data` share.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "cli/data/in_order.hpp"
#include "cli/data/inspect/field_statistics.hpp"
#include "cli/data/inspect/image_preview.hpp"
#include "cli/data/inspect/reading_facts.hpp"
#include "cli/data/value_text.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::cli::datasets {

namespace {

template <class T>
data::Column column_with(const std::vector<T>& values) {
  data::Column column{0, std::vector<std::byte>(values.size() * sizeof(T)), {}};
  std::memcpy(column.values.data(), values.data(), column.values.size());
  return column;
}

data::Column texts_in(const std::vector<std::string>& texts) {
  data::Column column{0, {}, {}};
  for (const auto& text : texts) {
    const auto bytes = std::as_bytes(std::span(text));
    column.values.insert(column.values.end(), bytes.begin(), bytes.end());
    column.ends.push_back(column.values.size());
  }
  return column;
}

template <class T>
std::string text_of(T value, DType dtype) {
  std::string text;
  append_number(text, reinterpret_cast<const std::byte*>(&value), dtype);
  return text;
}

}  // namespace

TEST_CASE("merged statistics of parts equal the statistics of all samples") {
  const Dataset::Field field{"x", DType::f64, {}};
  const auto nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  FieldStatistics whole(field), merged(field);
  whole.add(column_with<double>({1, 2, nan, 4, -infinity, 0, 7}), 7);
  for (const auto& part : {std::vector<double>{1, 2, nan}, {}, {4, -infinity}, {0, 7}}) {
    FieldStatistics some(field);
    some.add(column_with(part), part.size());
    merged.merge(some);
  }
  const auto found = merged.elements(), expected = whole.elements();
  CHECK(found->count == 7);
  CHECK(found->nan == 1);
  CHECK(found->infinite == 1);
  CHECK(found->zero == 1);
  CHECK(found->min == expected->min);
  CHECK(std::get<double>(*found->max) == 7);
  CHECK(*found->mean == Approx(2.8));
  CHECK(*found->deviation == Approx(std::sqrt((3.24 + 0.64 + 1.44 + 7.84 + 17.64) / 5)));
  CHECK(merged.distinct()->count() == 6);
}

TEST_CASE("distinct values are counted up to a maximum and listed by frequency") {
  DistinctValues values;
  for (int i = 0; i < 3; ++i) values.add(std::as_bytes(std::span("b", 1)));
  values.add(std::as_bytes(std::span("c", 1)));
  values.add(std::as_bytes(std::span("a", 1)));
  using Counts = std::vector<std::pair<std::string, std::uint64_t>>;
  CHECK(values.by_frequency() == Counts{{"b", 3}, {"a", 1}, {"c", 1}});
  for (std::int64_t i = 0; i < 2000; ++i) values.add(std::as_bytes(std::span(&i, 1)));
  CHECK_FALSE(values.is_complete());
  CHECK(values.count() == DistinctValues::max);
}

TEST_CASE("statistics of texts are those of their lengths, with the number of empty texts") {
  FieldStatistics found({"word", DType::u8, {}, true});
  found.add(texts_in({"abc", "", "a", "abc"}), 4);
  CHECK_FALSE(found.elements());
  CHECK(found.empty() == 1);
  CHECK(*found.lengths()->mean == 1.75);
  CHECK(found.distinct()->count() == 3);
}

TEST_CASE("a printed number is read back as the same value") {
  CHECK(text_of(1.0, DType::f64) == "1.0");
  CHECK(text_of(0.1F, DType::f32) == "0.1");
  CHECK(text_of(std::int64_t{-5}, DType::i64) == "-5");
  CHECK(text_of(std::uint8_t{1}, DType::boolean) == "true");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN(), DType::f64) == "nan");
  std::mt19937_64 draw(1);
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(draw());
    if (std::isnan(value)) continue;
    CHECK(std::bit_cast<std::uint64_t>(*data::real_in(text_of(value, DType::f64))) == std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("fields of bytes with two axes, and 1 or 3 channels, are drawn as images") {
  const auto is_picture = [](DType dtype, Shape shape) { return image_shape({"x", dtype, std::move(shape)}).has_value(); };
  CHECK(is_picture(DType::u8, {28, 28}));
  CHECK(is_picture(DType::u8, {32, 32, 3}));
  CHECK(is_picture(DType::u8, {3, 32, 32}));
  CHECK_FALSE(is_picture(DType::f32, {28, 28}));
  CHECK_FALSE(is_picture(DType::u8, {784}));
  CHECK_FALSE(is_picture(DType::u8, {32, 32, 2}));
  std::vector<std::byte> sample(8 * 8, std::byte{0});
  for (std::size_t i = 0; i < 32; ++i) sample[i] = std::byte{255};
  const auto shape = *image_shape({"x", DType::u8, {8, 8}});
  CHECK(preview_lines(sample, shape, 80, false) ==
        std::vector<std::string>{"@@@@@@@@", "@@@@@@@@", "        ", "        "});
  CHECK(preview_lines(sample, shape, 4, false) == std::vector<std::string>{"@@@@", "    "});
}

TEST_CASE("results of several threads are returned in order, and an error ends all threads") {
  std::vector<std::uint64_t> taken;
  InOrder all(3, 200);
  all.run(
      4, [](std::uint64_t number) { return 2 * number; },
      [&](std::uint64_t number, std::uint64_t result) {
        CHECK(result == 2 * number);
        taken.push_back(number);
      });
  REQUIRE(taken.size() == 197);
  CHECK(std::is_sorted(taken.begin(), taken.end()));
  InOrder broken(0, 100);
  const auto work = [](std::uint64_t number) {
    if (number == 50) throw Error("no more");
    return number;
  };
  std::uint64_t last = 0;
  CHECK_THROWS_WITH(broken.run(4, work, [&](std::uint64_t number, std::uint64_t) { last = number; }), "no more");
  CHECK(last < 50);
}

TEST_CASE("advice depends on how a sample is read") {
  ReadingFacts facts{.samples = 1'000'000,
                     .files = 1,
                     .file_bytes = 1 << 30,
                     .samples_per_rank = 1'000'000,
                     .sample_bytes = 1000,
                     .memory = 1 << 20,
                     .available = 1 << 20,
                     .together = 1000};
  const auto says = [&](const char* word) {
    for (const auto& sentence : advice_for(facts))
      if (sentence.find(word) != std::string::npos) return true;
    return false;
  };
  CHECK(says("block = 1000"));
  CHECK_FALSE(says("memory = "));
  facts.block = 1000;
  CHECK(advice_for(facts).empty());
  facts.available = std::uint64_t{16} << 30;
  CHECK(says("memory = 1073 MiB"));
  facts.is_kept = true;
  CHECK(advice_for(facts).empty());
  facts.is_kept = false;
  facts.reading = data::Reading::by_record;
  CHECK(says("parsed"));
  facts.files = 100'000;
  CHECK(says("100000 files"));
  facts.ranks = 2'000'000;
  CHECK(says("fewer than"));
}

}  // namespace trainrt::cli::datasets
