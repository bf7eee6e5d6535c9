#include <utility>

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

TEST_CASE("categories that are not UTF-8 are an error, and others are saved unchanged") {
  const auto kept = TableLayout::from_json(layout_with("K\xc3\xb6ln").to_json());
  CHECK(kept.features.at(0).categories == std::vector<std::string>{"Bonn", "K\xc3\xb6ln"});
  CHECK_THROWS_AS(layout_with("K\xf6ln").to_json(), UsageError);  // Latin-1
}

TEST_CASE("the difference of two layouts names the field with another use") {
  const auto before = layout_with("Bonn");
  CHECK(difference_of(before, layout_with("Ulm")).empty());  // texts of categories aside
  for (const auto& [key, field] : {std::pair{"label", &TableLayout::label},
                                   {"weight", &TableLayout::weight},
                                   {"group", &TableLayout::group},
                                   {"base_margin", &TableLayout::base_margin},
                                   {"init_score", &TableLayout::init_score},
                                   {"label_lower_bound", &TableLayout::lower_bound},
                                   {"label_upper_bound", &TableLayout::upper_bound},
                                   {"sparse", &TableLayout::sparse_indices}}) {
    auto now = before;
    now.*field = "other";
    CHECK(difference_of(before, now).starts_with(key));
    CHECK(difference_of(now, before).starts_with(key));
  }
}

TEST_CASE("a saved layout is restored, and a missing key means an unused field") {
  auto layout = layout_with("Ulm");
  layout.base_margin = "m";
  layout.margins = 3;
  const auto kept = TableLayout::from_json(layout.to_json());
  CHECK(difference_of(layout, kept).empty());
  CHECK(kept.margin() == "m");
  CHECK(kept.margins == 3);
  layout.margins = 2;
  CHECK(difference_of(kept, layout) == "base_margin: 2 numbers per row, but there were 3");
  const auto older = TableLayout::from_json(
      R"({"features":[],"columns":1,"label":"y","weight":"w","group":"","indices":"i","values":"v","dtype":"f32"})");
  CHECK(older.weight == "w");
  CHECK(older.margin().empty());
}
