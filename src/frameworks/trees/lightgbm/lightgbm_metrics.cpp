#include "frameworks/trees/lightgbm/lightgbm_metrics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/lightgbm/score_areas.hpp"

namespace trainrt::frameworks::trees {

namespace {

constexpr std::string_view means_of_rows[] = {"l1",
                                              "l2",
                                              "quantile",
                                              "mape",
                                              "huber",
                                              "fair",
                                              "poisson",
                                              "gamma",
                                              "tweedie",
                                              "binary_logloss",
                                              "binary_error",
                                              "multi_logloss",
                                              "multi_error",
                                              "cross_entropy",
                                              "kullback_leibler"};

std::vector<std::string> metric_names_of(const LightgbmLibrary& library, LightgbmLibrary::Handle booster) {
  int count = 0;
  library.check(library.metric_count(booster, &count));
  constexpr std::size_t max_name_bytes = 256;
  std::vector<std::string> names(static_cast<std::size_t>(count), std::string(max_name_bytes, '\0'));
  std::vector<char*> buffers;
  for (auto& name : names) buffers.push_back(name.data());
  std::size_t found = 0;
  library.check(library.metric_names(booster, count, &count, max_name_bytes, &found, buffers.data()));
  for (auto& name : names) name.resize(name.find('\0'));
  return names;
}

/// Returns the predictions of class 0 for this rank's rows of a dataset. They sort the rows like the raw scores, and only
/// this order determines auc and average_precision. `at` is the index of the dataset in the booster.
std::vector<double> scores_of_set(const LightgbmLibrary& library, LightgbmLibrary::Handle booster, int at,
                                  std::size_t rows) {
  std::int64_t count = 0;
  library.check(library.prediction_count(booster, at, &count));
  std::vector<double> scores(static_cast<std::size_t>(count));
  library.check(library.predictions(booster, at, &count, scores.data()));
  scores.resize(std::min(scores.size(), rows));
  return scores;
}

}  // namespace

LightgbmMetrics::LightgbmMetrics(const LightgbmRun& run, LightgbmLibrary::Handle booster)
    : names_(metric_names_of(run.library, booster)) {
  if (run.ctx.world_size() > 1)
    for (const auto& name : names_) kinds_.push_back(kind_of(name));
}

LightgbmMetrics::Kind LightgbmMetrics::kind_of(std::string_view name) {
  const auto family = name.substr(0, name.find('@'));
  if (family == "rmse") return Kind::root_mean_square;
  if (family == "ndcg" || family == "map") return Kind::mean_of_queries;
  if (family == "gamma_deviance") return Kind::total;
  if (family == "cross_entropy_lambda") return Kind::mean_of_unweighted_rows;
  if (family == "auc" || family == "average_precision") return Kind::area;
  if (std::ranges::find(means_of_rows, family) != std::end(means_of_rows)) return Kind::mean_of_rows;
  throw UsageError(fmt::format(
      "[loop] metric = {} is not supported on several ranks, because LightGBM evaluates it on one rank's "
      "rows only; supported: {}, cross_entropy_lambda, rmse, ndcg, map, gamma_deviance, auc, average_precision, "
      "none",
      name, fmt::join(means_of_rows, ", ")));
}

double LightgbmMetrics::weight_of(const LightgbmDataset& set, Kind kind) {
  switch (kind) {
    case Kind::mean_of_queries:
      return set.query_weight();
    case Kind::mean_of_unweighted_rows:
      return set.rows();
    case Kind::total:
      return 1;
    default:
      return set.row_weight();
  }
}

std::vector<double> LightgbmMetrics::of_this_rank(const LightgbmRun& run, LightgbmLibrary::Handle booster, int at) const {
  std::vector<double> values(names_.size());
  int count = 0;
  run.library.check(run.library.limit_threads(2));  // with more threads, the order of their sums varies
  const auto code = run.library.evaluate(booster, at, &count, values.data());
  run.library.check(run.library.limit_threads(0));
  run.library.check(code);
  return values;
}

std::vector<double> LightgbmMetrics::of_all_ranks(const LightgbmRun& run, LightgbmLibrary::Handle booster,
                                                  const LightgbmDataset& set, int at) const {
  std::vector<double> sums(2 * names_.size());  // per metric: the weighted value, and the weight
  if (set.rows() > 0) {
    const auto values = of_this_rank(run, booster, at);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto weight = weight_of(set, kinds_[i]);
      if (weight == 0) continue;  // all rows of this rank have the weight 0
      sums[2 * i] = weight * (kinds_[i] == Kind::root_mean_square ? values[i] * values[i] : values[i]);
      sums[2 * i + 1] = weight;
    }
  }
  run.ctx.communicator().all_reduce(sums, Op::sum, "metrics");
  std::vector<double> values(names_.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = kinds_[i] == Kind::total ? sums[2 * i] : sums[2 * i] / sums[2 * i + 1];
    if (kinds_[i] == Kind::root_mean_square) values[i] = std::sqrt(values[i]);
  }
  if (std::ranges::find(kinds_, Kind::area) == kinds_.end()) return values;
  const auto scores = set.rows() > 0 ? scores_of_set(run.library, booster, at, set.labels().size()) : std::vector<double>();
  const auto areas = score_areas(run.ctx.communicator(), scores, set.labels(), set.weights());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kinds_[i] == Kind::area) values[i] = names_[i] == "auc" ? areas.auc : areas.average_precision;
  return values;
}

Evaluation LightgbmMetrics::evaluate(const LightgbmRun& run, LightgbmLibrary::Handle booster,
                                     const std::vector<std::unique_ptr<LightgbmDataset>>& sets) const {
  Evaluation evaluation;
  int at = 0;
  if (names_.empty()) return evaluation;
  for (const auto& set : sets) {
    const auto values = kinds_.empty() ? of_this_rank(run, booster, at) : of_all_ranks(run, booster, *set, at);
    for (std::size_t i = 0; i < values.size(); ++i)
      evaluation.emplace_back(fmt::format("{}-{}", set->name(), names_[i]), values[i]);
    if (set->rows() > 0) ++at;
  }
  return evaluation;
}

bool is_better_if_greater_of_lightgbm(std::string_view metric) {
  metric.remove_prefix(metric.rfind('-') + 1);  // LightGBM's names contain no '-'
  return metric.starts_with("auc") || metric.starts_with("ndcg@") || metric.starts_with("map@") ||
         metric == "average_precision";
}

}  // namespace trainrt::frameworks::trees
