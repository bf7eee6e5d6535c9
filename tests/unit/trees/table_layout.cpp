#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/table_layout.hpp"

using namespace trainrt;
using namespace trainrt::frameworks::trees;

namespace {

TableLayout layout_with(const std::string& category) {
  TableLayout layout{.columns = 1, .label = "y"};
  layout.features.push_back({.name = "t", .field = "t", .is_categorical = true, .categories = {"Bonn", category}});
  return layout;
}

}  // namespace

TEST_CASE("a checkpoint keeps the texts of categories as they are, or is refused") {
  const auto kept = TableLayout::from_json(layout_with("K\xc3\xb6ln").to_json());
  CHECK(kept.features.at(0).categories == std::vector<std::string>{"Bonn", "K\xc3\xb6ln"});
  CHECK_THROWS_AS(layout_with("K\xf6ln").to_json(), UsageError);  // Latin-1
}
