#include "frameworks/trees/xgboost/xgboost_parameters.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/near_name.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// XGBoost's parameters, from its doc/parameter.rst, to suggest a name after a typing error.
constexpr std::array<std::string_view, 68> known_names = {"alpha",
                                                          "aft_loss_distribution",
                                                          "aft_loss_distribution_scale",
                                                          "base_score",
                                                          "booster",
                                                          "colsample_bylevel",
                                                          "colsample_bynode",
                                                          "colsample_bytree",
                                                          "device",
                                                          "disable_default_eval_metric",
                                                          "eta",
                                                          "eval_metric",
                                                          "feature_selector",
                                                          "gamma",
                                                          "grow_policy",
                                                          "huber_slope",
                                                          "interaction_constraints",
                                                          "lambda",
                                                          "lambda_bias",
                                                          "lambdarank_bias_norm",
                                                          "lambdarank_num_pair_per_sample",
                                                          "lambdarank_pair_method",
                                                          "lambdarank_unbiased",
                                                          "learning_rate",
                                                          "max_bin",
                                                          "max_cached_hist_node",
                                                          "max_cat_threshold",
                                                          "max_cat_to_onehot",
                                                          "max_delta_step",
                                                          "max_depth",
                                                          "max_leaves",
                                                          "min_child_weight",
                                                          "min_split_loss",
                                                          "monotone_constraints",
                                                          "multi_strategy",
                                                          "n_jobs",
                                                          "ndcg_exp_gain",
                                                          "normalize_type",
                                                          "nthread",
                                                          "num_class",
                                                          "num_parallel_tree",
                                                          "num_pairsample",
                                                          "num_target",
                                                          "objective",
                                                          "one_drop",
                                                          "predictor",
                                                          "process_type",
                                                          "quantile_alpha",
                                                          "random_state",
                                                          "rate_drop",
                                                          "refresh_leaf",
                                                          "reg_alpha",
                                                          "reg_lambda",
                                                          "sample_type",
                                                          "sampling_method",
                                                          "scale_pos_weight",
                                                          "seed",
                                                          "seed_per_iteration",
                                                          "sketch_eps",
                                                          "skip_drop",
                                                          "sparse_threshold",
                                                          "subsample",
                                                          "top_k",
                                                          "tree_method",
                                                          "tweedie_variance_power",
                                                          "updater",
                                                          "validate_parameters",
                                                          "verbosity"};

/// Owns a booster that is not connected to any data, to check parameters.
class EmptyBooster {
 public:
  explicit EmptyBooster(const XgboostLibrary& library) : xgboost_(library) {
    xgboost_.check(xgboost_.booster_create(nullptr, 0, &handle_));
  }
  ~EmptyBooster() { xgboost_.booster_free(handle_); }
  EmptyBooster(const EmptyBooster&) = delete;
  XgboostLibrary::Handle handle() const { return handle_; }

 private:
  const XgboostLibrary& xgboost_;
  XgboostLibrary::Handle handle_ = nullptr;
};

void check_value(const XgboostLibrary& library, int code) {
  if (code != 0) throw UsageError("XGBoost refuses the parameters in [loop]: " + library.last_error());
}

[[noreturn]] void refuse(const std::vector<std::string>& names) {
  std::vector<std::string_view> known(known_names.begin(), known_names.end());
  known.insert(known.end(), declared_keys().begin(), declared_keys().end());
  std::string text;
  for (const auto& name : names) {
    const auto near = near_name(name, known);
    text += fmt::format("{}'{}'{}", text.empty() ? "" : ", ", name,
                        near.empty() || near == name ? "" : fmt::format(" (did you mean '{}'?)", near));
  }
  throw UsageError(
      fmt::format("[loop] has keys that are not keys of the train function xgboost, and that XGBoost does not use with "
                  "these parameters: {}; validate_parameters = false disables this check",
                  text));
}

/// Replaces the default updater, shotgun, because its results differ between runs if several threads are used.
void complete_linear(Parameters& given) {
  if (const auto* selector = given.find("feature_selector"); selector != nullptr && *selector == "shuffle")
    throw UsageError(
        "[loop] feature_selector = shuffle is not supported: the model does not store the shuffled order, so that a "
        "restart would change the training; choose cyclic, random, greedy or thrifty");
  given.set_default("updater", "coord_descent");
  if (*given.find("updater") == "shotgun" && given.find("n_jobs") == nullptr) given.set_default("nthread", "1");
}

}  // namespace

Parameters with_defaults(Parameters given, const Context& ctx, int threads) {
  if (const auto* type = given.find("process_type"); type != nullptr && *type != "default")
    throw UsageError(
        fmt::format("[loop] process_type = {} is not supported: the train function only grows new trees (default)", *type));
  if (const auto* method = given.find("tree_method"); method != nullptr && *method == "exact" && ctx.world_size() > 1)
    throw UsageError("[loop] tree_method = exact trains on one rank only; on several ranks, choose hist or approx");
  if (is_linear(given))
    complete_linear(given);
  else if (given.find("updater") == nullptr)
    given.set_default("tree_method", "hist");
  if (given.find("random_state") == nullptr)
    given.set_default("seed", std::to_string(static_cast<std::int64_t>(ctx.seed())));
  if (given.find("n_jobs") == nullptr) given.set_default("nthread", std::to_string(threads));
  given.set_default("seed_per_iteration", "true");
  given.set_default("validate_parameters", "true");
  return given;
}

void set_parameters(const XgboostLibrary& library, XgboostLibrary::Handle booster, const Parameters& parameters) {
  for (const auto& [name, value] : parameters.all()) {
    const auto words = name == "eval_metric" ? words_of(value) : std::vector<std::string>{value};
    for (const auto& word : words) check_value(library, library.set_param(booster, name.c_str(), word.c_str()));
  }
}

void require_known(const XgboostLibrary& library, XgboostLog& log, const Parameters& parameters,
                   const TableLayout& layout) {
  const EmptyBooster booster(library);
  auto verbose = parameters;
  verbose.remove("verbosity");  // 0 would hide the warning
  set_parameters(library, booster.handle(), verbose);
  check_value(library, library.set_param(booster.handle(), "num_feature", std::to_string(layout.columns).c_str()));
  log.hold();
  std::uint64_t count = 0;
  const int code = library.feature_count(booster.handle(), &count);
  const auto warnings = log.release();
  check_value(library, code);
  if (const auto names = names_not_used(warnings); !names.empty()) refuse(names);
}

void require_margins(const Parameters& parameters, const TableLayout& layout) {
  if (layout.base_margin.empty()) return;
  if (parameters.find_any({"quantile_alpha", "num_target"}) != nullptr)
    return;  // the model may then have several outputs, too
  const auto* const given = parameters.find("num_class");
  require_margin_each(
      layout, given == nullptr ? 1 : static_cast<std::uint64_t>(std::max(1LL, std::strtoll(given->c_str(), nullptr, 10))));
}

void require_bounds(const Parameters& parameters, const TableLayout& layout) {
  const auto* const objective = parameters.find("objective");
  const bool needs_bounds = objective != nullptr && *objective == "survival:aft";
  if (needs_bounds && layout.lower_bound.empty())
    throw UsageError("[loop] objective = survival:aft needs label_lower_bound and label_upper_bound");
  if (!needs_bounds && layout.label.empty())
    throw UsageError("[loop] label is missing: only objective = survival:aft can be trained with bounds instead");
}

std::vector<std::string> names_not_used(std::string_view warning) {
  std::vector<std::string> names;
  constexpr std::string_view begin = "Parameters: {";
  const auto at = warning.find(begin);
  if (at == std::string_view::npos) return names;
  auto list = warning.substr(at + begin.size());
  list = list.substr(0, list.find('}'));
  for (auto quote = list.find('"'); quote != std::string_view::npos; quote = list.find('"')) {
    list.remove_prefix(quote + 1);
    const auto end = list.find('"');
    if (end == std::string_view::npos) break;
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(end + 1);
  }
  return names;
}

bool is_linear(const Parameters& parameters) {
  const auto* booster = parameters.find("booster");
  return booster != nullptr && *booster == "gblinear";
}

bool draws_samples(const Parameters& parameters) {
  if (is_linear(parameters)) return false;
  constexpr std::array names = {"subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode"};
  return std::ranges::any_of(names, [&](const auto* name) {
    const auto* value = parameters.find(name);
    return value != nullptr && std::strtod(value->c_str(), nullptr) != 1.0;
  });
}

}  // namespace trainrt::frameworks::trees
