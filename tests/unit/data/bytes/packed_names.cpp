#include "data/bytes/coding/packed_names.hpp"

#include <catch2/catch.hpp>

using trainrt::data::PackedNames;

TEST_CASE("packed names are returned by their index, also after packing and unpacking") {
  PackedNames names;
  std::vector<std::string> all;
  for (int i = 0; i < 1000; ++i)
    all.push_back(i % 100 == 7 ? ""
                               : "folder/" + std::to_string(i / 50) + std::string(static_cast<std::size_t>(i % 13), 'x'));
  for (const auto& name : all) names.add(name);
  const auto back = trainrt::data::unpacked<PackedNames>(trainrt::data::packed(names));
  REQUIRE(back.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(names[i] == all[i]);
    CHECK(back[i] == all[i]);
  }
}

TEST_CASE("numbers are packed in few bytes, and damaged bytes are an error") {
  using trainrt::data::packed;
  using trainrt::data::unpacked;
  const std::vector<std::uint64_t> lengths{0, 1, 127, 128, 300, 1 << 20, UINT64_MAX};
  const auto bytes = packed(lengths);
  CHECK(bytes.size() == 1 + (1 + 1 + 1 + 2 + 2 + 3 + 10));
  CHECK(unpacked<std::vector<std::uint64_t>>(bytes) == lengths);
  const std::vector<std::int64_t> signed_numbers{0, -1, 63, INT64_MIN, INT64_MAX};
  CHECK(unpacked<std::vector<std::int64_t>>(packed(signed_numbers)) == signed_numbers);
  for (std::size_t left = 0; left < bytes.size(); ++left)
    CHECK_THROWS_WITH(unpacked<std::vector<std::uint64_t>>(bytes.substr(0, left)), Catch::Contains("damaged"));
}

TEST_CASE("sorted names take little more memory than their different suffixes") {
  PackedNames names;
  std::size_t plain = 0;
  for (int i = 100000; i < 110000; ++i) {
    const auto name = "n01440764/ILSVRC2012_val_" + std::to_string(i) + ".JPEG";
    names.add(name);
    plain += name.size();
  }
  CHECK(names.bytes().size() < plain / 3);
}
