#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::string safetensors(const std::string& json, const std::string& values) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i));
  return bytes + json + values;
}

std::string tensor(const std::string& dtype, const std::string& shape, int begin, int end) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[)" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

}  // namespace

TEST_CASE("the tensors of a safetensors file are fields with their types and values") {
  Scratch dir;
  write(dir / "x.safetensors", safetensors(R"({"__metadata__":{"format":"pt"},"b":)" + tensor("I16", "[3]", 6, 12) +
                                               R"(,"a":)" + tensor("U8", "[3,2]", 0, 6) + "}",
                                           std::string("abcdef\1\0\2\0\3\0", 12)));
  const auto dataset = open({{"source", dir / "x.safetensors"}});
  const auto& fields = dataset->source()->fields();
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].name == "a");
  CHECK(fields[0].dtype == DType::u8);
  CHECK(fields[0].sample_shape == Shape{2});
  CHECK(fields[1].dtype == DType::i16);
  CHECK(gathered<char>(*dataset, 0, {2, 0}) == std::vector<char>{'e', 'f', 'a', 'b'});
  CHECK(gathered<std::int16_t>(*dataset, 1, {1, 2}) == std::vector<std::int16_t>{2, 3});
}

TEST_CASE("the key fields chooses and renames tensors with equally many samples") {
  Scratch dir;
  write(dir / "x.safetensors",
        safetensors(R"({"a":)" + tensor("U8", "[2]", 0, 2) + R"(,"b":)" + tensor("U8", "[3]", 2, 5) + "}", "abcde"));
  both_say({{"source", dir / "x.safetensors"}}, "x.safetensors", "has 2 samples, but 'b' has 3");
  const auto dataset = open({{"source", dir / "x.safetensors"}, {"fields", "x=b"}});
  CHECK(dataset->source()->fields()[0].name == "x");
  CHECK(gathered<char>(*dataset, 0, {0, 2}) == std::vector<char>{'c', 'e'});
  both_say({{"source", dir / "x.safetensors"}, {"fields", "c"}}, "x.safetensors", "has no array 'c'");
}

TEST_CASE("a safetensors file with a damaged header or overlapping tensors is an error that names the tensor") {
  Scratch dir;
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    write(dir / "x.safetensors", bytes);
    both_say({{"source", dir / "x.safetensors"}}, "x.safetensors", why);
  };
  const auto good = safetensors(R"({"a":)" + tensor("U8", "[4]", 0, 4) + "}", "abcd");
  refused(good.substr(0, 5), "truncated within its header");
  refused(good.substr(0, 20), "header declares");
  refused("\xff\xff\xff\xff\xff\xff\xff\xff" + good.substr(8), "header declares 18446744073709551615 bytes");
  refused(good.substr(0, good.size() - 1), "the tensor 'a' overlaps");
  refused(good + "e", "1 bytes after the last tensor");
  refused(safetensors(R"({"a":)" + tensor("U8", "[2]", 0, 2) + R"(,"b":)" + tensor("U8", "[2]", 1, 3) + "}", "abc"),
          "the tensor 'b' overlaps the previous tensor");
  refused(safetensors(R"({"a":)" + tensor("F32", "[4]", 0, 4) + "}", "abcd"), "need 16 bytes, but its data has 4 bytes");
  refused(safetensors(R"({"a":)" + tensor("F32", "[4611686018427387904,4]", 0, 4) + "}", "abcd"),
          "more values than a file can hold");
  refused(safetensors(R"({"a":)" + tensor("U16", "[2]", 0, 4) + "}", "abcd"), "U16, which is not supported");
  refused(safetensors(R"({"a":)" + tensor("F32", "[]", 0, 4) + "}", "abcd"), "no axis of samples");
  refused(safetensors(R"({"a":)" + tensor("U8", "[2]", 0, 2) + R"(,"a":)" + tensor("U8", "[2]", 2, 4) + "}", "abcd"),
          "two tensors have the name 'a'");
  refused(safetensors(R"({"a":[[[[1]]]]})", "abcd"), "not a JSON object of tensors");
  refused(safetensors(R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", "abcd"), "integers of 0 or more");
  refused(safetensors("{}", ""), "contains no arrays");
}
