#include "data/transform/transform.hpp"

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// Returns 3 samples of 2 x 1 bytes (0, 51, 102, 153, 204, 255), and their labels 2, 0, 1.
std::map<std::string, std::string> idx_values(const Scratch& dir) {
  using namespace std::string_literals;
  write(dir / "x-idx3-ubyte", "\0\0\x8\x3\0\0\0\x3\0\0\0\x2\0\0\0\x1"s + "\0\x33\x66\x99\xcc\xff"s);
  write(dir / "x-idx1-ubyte", "\0\0\x8\x1\0\0\0\x3\x2\0\x1"s);
  return {{"source", dir / "x-idx3-ubyte"}, {"labels", dir / "x-idx1-ubyte"}};
}

std::shared_ptr<DatasetImpl> with(std::map<std::string, std::string> values, const std::string& key,
                                  const std::string& value) {
  values[key] = value;
  return open(values);
}

}  // namespace

TEST_CASE("normalize converts bytes like ToTensor and Normalize, and other numbers by mean and deviation") {
  const Scratch dir;
  const auto bytes = with(idx_values(dir), "normalize", "images: 0.5 0.25, labels: 1 2");
  CHECK(bytes->source()->fields()[0].dtype == DType::f32);
  CHECK(bytes->source()->fields()[0].sample_shape == Shape{2, 1});
  const auto got = gathered<float>(*bytes, 0, {2, 0});
  REQUIRE(got.size() == 4);
  CHECK(got[0] == Approx((204 / 255.0 - 0.5) / 0.25));
  CHECK(got[1] == 2);
  CHECK(got[2] == -2);
  const auto reals = with({{"format", "synthetic"}}, "normalize", "x: 2 4"), plain = open({{"format", "synthetic"}});
  CHECK(gathered<float>(*reals, 0, {7})[3] == (gathered<float>(*plain, 0, {7})[3] - 2) / 4);
}

TEST_CASE("cast changes the type, one_hot encodes classes, and both can be combined") {
  const Scratch dir;
  auto values = idx_values(dir);
  values["cast"] = "labels: i64, images: f64";
  values["one_hot"] = "labels: 3";
  const auto dataset = open(values);
  CHECK(gathered<double>(*dataset, 0, {1}) == std::vector<double>{102, 153});
  CHECK(dataset->source()->fields()[1].sample_shape == Shape{3});
  CHECK(gathered<float>(*dataset, 1, {0, 1}) == std::vector<float>{0, 0, 1, 1, 0, 0});
  CHECK(gathered<std::int64_t>(*with(idx_values(dir), "cast", "labels: i64"), 1, {2, 0}) ==
        std::vector<std::int64_t>{1, 2});
}

TEST_CASE("an invalid transform is an error that names section, key, field and value") {
  const Scratch dir;
  const auto values = idx_values(dir);
  const auto says = [&](const std::string& key, const std::string& value, const std::string& what) {
    CHECK_THROWS_WITH(with(values, key, value), Contains("[data.train]") && Contains(key) && Contains(what));
    CHECK_THROWS_AS(with(values, key, value), UsageError);
  };
  says("cast", "label: i64", "did you mean 'labels'");
  says("cast", "labels", "FIELD: TYPE");
  says("cast", "labels: int", "i64");
  says("cast", "labels: f16", "cannot be cast to 'f16'");
  says("normalize", "images: 1", "two numbers");
  says("normalize", "images: 1 0", "more than 0");
  says("normalize", "images: one 2", "'one' is not a number");
  says("one_hot", "labels: 0", "1 to 1048576");
  const auto two = with(values, "one_hot", "labels: 2");
  CHECK_THROWS_WITH(gathered<float>(*two, 1, {0}), Contains("labels contains 2") && Contains("0 to 1"));
  CHECK_THROWS_WITH(gathered<std::int8_t>(*with(values, "cast", "images: i8"), 0, {2}), Contains("images contains 204"));
}

TEST_CASE("cast to f32 refuses a number beyond its range and keeps infinity") {
  const Scratch dir;
  using namespace std::string_literals;
  write(dir / "x-idx1-double",
        "\0\0\xe\x1\0\0\0\x2"s + "\x7e\x37\xe4\x3c\x88\0\x75\x9c"s + "\x7f\xf0\0\0\0\0\0\0"s);  // 1e300, inf
  const auto cast = with({{"format", "idx"}, {"source", dir / "x-idx1-double"}}, "cast", "images: f32");
  CHECK_THROWS_WITH(gathered<float>(*cast, 0, {0}), Contains("field images contains 1e+300, which f32 cannot represent"));
  CHECK(gathered<float>(*cast, 0, {1}) == std::vector{std::numeric_limits<float>::infinity()});
}
