// Tests of which labels each version of XGBoost accepts.
#include <catch2/catch.hpp>

#include "frameworks/trees/xgboost/label_rule.hpp"

using namespace trainrt::frameworks::trees;

namespace {

Parameters parameters_of(std::initializer_list<std::pair<const char*, const char*>> given) {
  Parameters parameters;
  for (const auto& [name, value] : given) parameters.set(name, value);
  return parameters;
}

}  // namespace

TEST_CASE("each objective accepts the labels with which it can be trained") {
  struct Rule {
    const char* objective;
    float wrong, right;
  };
  for (const auto& [objective, wrong, right] :
       {Rule{"binary:logistic", 2, 1}, Rule{"binary:logitraw", -1, 0}, Rule{"reg:logistic", 1.5, 0.5},
        Rule{"count:poisson", -1, 0}, Rule{"reg:tweedie", -0.5, 0}, Rule{"reg:gamma", 0, 0.5},
        Rule{"reg:squaredlogerror", -1, -0.5}}) {
    INFO(objective);
    const auto rule = label_rule(parameters_of({{"objective", objective}}), 1, 7, true);
    CHECK_FALSE(rule.accepts(wrong));
    CHECK(rule.accepts(right));
    CHECK_FALSE(label_rule(parameters_of({{"objective", objective}}), 1, 7, false).accepts);
  }
  CHECK_FALSE(label_rule(parameters_of({{"objective", "binary:hinge"}}), 1, 7, true).accepts);
}

TEST_CASE("a fraction is not a class since XGBoost 3.1") {
  const auto classes = parameters_of({{"objective", "multi:softmax"}, {"num_class", "3"}});
  CHECK(label_rule(classes, 1, 7, true).accepts(1.5));
  CHECK(label_rule(classes, 3, 0, true).accepts(1.5));
  CHECK_FALSE(label_rule(classes, 3, 1, true).accepts(1.5));
  CHECK(label_rule(classes, 3, 1, true).accepts(2));
  CHECK_FALSE(label_rule(classes, 1, 7, true).accepts(3));
}

TEST_CASE("the labels of evaluation datasets depend on the metrics") {
  const auto classes = parameters_of({{"objective", "multi:softmax"}, {"num_class", "3"}});
  CHECK(label_rule(classes, 3, 2, false).accepts(2.5));
  CHECK_FALSE(label_rule(classes, 3, 2, false).accepts(3));
  CHECK_FALSE(label_rule(parameters_of({{"objective", "binary:logistic"}}), 3, 2, false).accepts);
  CHECK_FALSE(
      label_rule(parameters_of({{"objective", "binary:logistic"}, {"eval_metric", "mlogloss"}}), 3, 2, false).accepts);
  const auto others = parameters_of({{"objective", "multi:softmax"}, {"num_class", "3"}, {"eval_metric", "auc"}});
  CHECK_FALSE(label_rule(others, 3, 2, false).accepts);
}

TEST_CASE("ranking objectives have rules since XGBoost 2") {
  const auto ndcg = parameters_of({{"objective", "rank:ndcg"}});
  CHECK_FALSE(label_rule(ndcg, 1, 7, true).accepts);
  CHECK(label_rule(ndcg, 2, 0, true).accepts(31));
  CHECK_FALSE(label_rule(ndcg, 2, 0, true).accepts(32));
  CHECK_FALSE(label_rule(ndcg, 2, 0, true).accepts(-1));
  CHECK_FALSE(label_rule(parameters_of({{"objective", "rank:map"}}), 3, 2, true).accepts(2));
  CHECK_FALSE(label_rule(parameters_of({{"objective", "rank:pairwise"}}), 3, 2, true).accepts);
  CHECK_FALSE(label_rule({}, 3, 2, true).accepts);
}
