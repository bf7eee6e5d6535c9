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
  trainrt::data::PackedWriter writer;
  names.pack(writer);
  const auto bytes = writer.take();
  trainrt::data::PackedReader reader(bytes);
  const auto back = PackedNames::unpacked(reader);
  REQUIRE(back.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(names[i] == all[i]);
    CHECK(back[i] == all[i]);
  }
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
