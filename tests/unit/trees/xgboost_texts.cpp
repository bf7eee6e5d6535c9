#include <cmath>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/near_name.hpp"
#include "frameworks/trees/xgboost/array_interface.hpp"
#include "frameworks/trees/xgboost/evaluation.hpp"
#include "frameworks/trees/xgboost/xgboost_parameters.hpp"

using namespace trainrt;
using namespace trainrt::frameworks::trees;

TEST_CASE("XGBoost's evaluation is parsed with its names and all digits") {
  const auto found =
      evaluation_from("[12]\ttrain-logloss:0.69123456789012345\ttrain-ndcg@5-:1\tvalid-error@0.7:nan\tvalid-a:b:-inf");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == std::pair<std::string, double>("train-logloss", 0.69123456789012345));
  CHECK(found[1] == std::pair<std::string, double>("train-ndcg@5-", 1));
  CHECK(found[2].first == "valid-error@0.7");
  CHECK(std::isnan(found[2].second));
  CHECK(found[3].first == "valid-a:b");
  CHECK(std::isinf(found[3].second));
  CHECK(evaluation_from("[0]").empty());
  CHECK_THROWS_AS(evaluation_from("[0]\ttrain-logloss"), Error);
  CHECK_THROWS_AS(evaluation_from("[0]\ttrain-logloss:"), Error);
  CHECK_THROWS_AS(evaluation_from("[0]\ttrain-logloss:0.5x"), Error);
}

TEST_CASE("the same metrics are maximized as in XGBoost's Python package") {
  for (const auto* metric : {"auc", "aucpr", "auc@3", "map", "map@2-", "ndcg", "ndcg@5"}) CHECK(is_maximized(metric, 1));
  for (const auto* metric : {"logloss", "mape", "rmse", "error@0.7", "pre@3"}) CHECK_FALSE(is_maximized(metric, 1));
  CHECK(is_maximized("pre@3", 3));
}

TEST_CASE("the names in XGBoost's warning about unused parameters are found") {
  CHECK(names_not_used("[1] WARNING: a.cc:1: \nParameters: { \"max_dept\", \"etaa\" } might not be used.\n") ==
        std::vector<std::string>{"max_dept", "etaa"});
  CHECK(names_not_used("Parameters: { \"a} is cut off").empty());
  CHECK(names_not_used("Parameters: { \"a\" and no end") == std::vector<std::string>{"a"});
  CHECK(names_not_used("another warning about \"x\"").empty());
}

TEST_CASE("a typing error is corrected to a similar name only") {
  const std::string_view names[] = {"max_depth", "max_bin", "eta"};
  CHECK(near_name("max_dept", names) == "max_depth");
  CHECK(near_name("max_dpeth", names) == "max_depth");
  CHECK(near_name("eat", names) == "eta");
  CHECK(near_name("colsample", names).empty());
  CHECK(near_name(std::string(100, 'e'), names).empty());
}

TEST_CASE("samples are drawn if a fraction is not 1") {
  Parameters parameters;
  CHECK_FALSE(draws_samples(parameters));
  parameters.set("subsample", "1.0");
  CHECK_FALSE(draws_samples(parameters));
  parameters.set("colsample_bynode", "0.5");
  CHECK(draws_samples(parameters));
  parameters.set("booster", "gblinear");
  CHECK_FALSE(draws_samples(parameters));
}

TEST_CASE("an array is described by NumPy's array interface") {
  CHECK(array_interface(reinterpret_cast<const void*>(64), "f4", {3, 2}) ==
        R"({"data":[64,true],"shape":[3,2],"typestr":"<f4","version":3})");
  CHECK(array_interface(nullptr, "f4", {0, 2}).find("[0,true]") == std::string::npos);
}
