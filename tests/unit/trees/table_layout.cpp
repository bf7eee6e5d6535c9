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

TEST_CASE("a checkpoint keeps the texts of categories as they are, or is refused") {
  const auto kept = TableLayout::from_json(layout_with("K\xc3\xb6ln").to_json());
  CHECK(kept.features.at(0).categories == std::vector<std::string>{"Bonn", "K\xc3\xb6ln"});
  CHECK_THROWS_AS(layout_with("K\xf6ln").to_json(), UsageError);  // Latin-1
}

TEST_CASE("a run that goes on is told which field counts for something else now") {
  const auto before = layout_with("Bonn");
  CHECK(difference_of(before, layout_with("Ulm")).empty());  // texts of categories aside
  for (const auto& [key, field] : {std::pair{"label", &TableLayout::label},
                                   {"weight", &TableLayout::weight},
                                   {"group", &TableLayout::group},
                                   {"sparse", &TableLayout::sparse_indices}}) {
    auto now = before;
    now.*field = "other";
    CHECK(difference_of(before, now).starts_with(key));
    CHECK(difference_of(now, before).starts_with(key));
  }
}
