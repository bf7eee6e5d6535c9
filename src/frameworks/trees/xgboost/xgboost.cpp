#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/cpus_of_rank.hpp"
#include "frameworks/trees/private_folder.hpp"
#include "frameworks/trees/table_rows.hpp"
#include "frameworks/trees/xgboost/agree_on_missing.hpp"
#include "frameworks/trees/xgboost/blocked_signals.hpp"
#include "frameworks/trees/xgboost/evaluation.hpp"
#include "frameworks/trees/xgboost/matrix.hpp"
#include "frameworks/trees/xgboost/xgboost_communicator.hpp"
#include "frameworks/trees/xgboost/xgboost_log.hpp"
#include "frameworks/trees/xgboost/xgboost_model.hpp"
#include "frameworks/trees/xgboost/xgboost_parameters.hpp"

namespace trainrt::frameworks::trees {

namespace {

using Handle = XgboostLibrary::Handle;

/// Throws UsageError for matrix = external on several ranks before XGBoost 3. With pages and several ranks, the method
/// hist of XGBoost 1.7 reads beyond the end of its histograms.
void require_external_matrix(const Context& ctx, const XgboostLibrary& xgboost) {
  if (xgboost.major() < 3 && ctx.world_size() > 1)
    throw UsageError(fmt::format(
        "[loop] matrix = external: XGBoost {} does not support it on several ranks; start one rank with all CPUs "
        "(-n 1 -c CPUS), set matrix = quantile, or set [xgboost] library to XGBoost 3",
        xgboost.version()));
}

MatrixPlan::Kind kind_of_matrix(const Context& ctx, const Parameters& parameters) {
  const auto name = ctx.config<std::string>("matrix");
  const auto* method = parameters.find("tree_method");
  const bool is_hist = !is_linear(parameters) && method != nullptr && (*method == "hist" || *method == "gpu_hist");
  if (name != "plain" && !is_hist)
    throw UsageError(fmt::format("[loop] {} needs matrix = plain: only tree_method = hist uses bins",
                                 is_linear(parameters)
                                     ? "booster = gblinear"
                                     : fmt::format("tree_method = {}", method != nullptr ? *method : "(by updater)")));
  if (name == "quantile") return MatrixPlan::Kind::quantile;
  return name == "plain" ? MatrixPlan::Kind::plain : MatrixPlan::Kind::external;
}

/// Returns whether trees are grown by the method hist on CPUs.
bool grows_by_hist(const Parameters& parameters) {
  const auto* method = parameters.find("tree_method");
  const auto* updaters = parameters.find("updater");
  return updaters != nullptr ? updaters->find("grow_quantile_histmaker") != std::string::npos
                             : method != nullptr && *method == "hist";
}

/// Returns a value that differs from `given`: a tree_method with other updaters, or another updater.
std::string different_value(const std::string& given) {
  if (given == "hist") return "approx";
  if (given == "grow_quantile_histmaker") return "grow_histmaker";
  return given.starts_with("grow_") ? "grow_quantile_histmaker" : "hist";
}

/// Formats a number as Python does: 1.0, not 1.
std::string text_of_score(double score) {
  auto text = fmt::format("{}", score);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

class XgboostBooster : public Booster {
 public:
  XgboostBooster(Context& ctx, const TableLayout& layout, const Parameters& given, const std::string& model)
      : xgboost_(ctx.library("xgboost")), log_(xgboost_, ctx), names_(dataset_names(ctx)), info_(layout), model_(model) {
    require_known(xgboost_, log_, with_defaults(given, ctx, 1), layout);
    require_margins(given, layout);
    require_bounds(given, layout);
    log_.hold();  // until release(): XGBoost logs the rank of each worker here, which users do not need
    communicator_.emplace(xgboost_, ctx);
    log_.release();
    parameters_ = with_defaults(given, ctx, cpus_of_rank(ctx));
    xgboost_.set_threads(threads());
    communicator_->may_fail([&] { load_data(ctx, layout); });
  }
  ~XgboostBooster() override {
    if (handle_ != nullptr) xgboost_.booster_free(handle_);
  }
  XgboostBooster(const XgboostBooster&) = delete;

  /// Applies the parameters on all ranks at the same time, because XGBoost communicates when it applies them.
  void start() override {
    const BlockedSignals held;
    communicator_->may_fail([&] { make_booster(); });
  }

  void update(int round) override {
    const BlockedSignals held;
    communicator_->may_fail([&] {
      if (draws_samples(parameters_)) renew_samplers(round);
      xgboost_.check(xgboost_.update(handle_, round, matrices_.front()->handle()));
    });
  }

  Evaluation evaluate(int round) override {
    auto handles = handles_of_sets();
    std::vector<const char*> names;
    for (const auto& name : names_) names.push_back(name.c_str());
    const char* line = nullptr;
    const BlockedSignals held;
    communicator_->may_fail(
        [&] { xgboost_.check(xgboost_.evaluate(handle_, round, handles.data(), names.data(), names.size(), &line)); });
    return evaluation_from(line);
  }

  std::string model(int best_round, double best_score) override {
    if (best_round >= 0) {
      set_attribute("best_iteration", std::to_string(best_round));
      set_attribute("best_score", text_of_score(best_score));
    } else {  // an earlier attempt may have set them, with early stopping
      for (const auto* name : {"best_iteration", "best_score"})
        xgboost_.check(xgboost_.set_attribute(handle_, name, nullptr));
    }
    std::uint64_t size = 0;
    const char* bytes = nullptr;
    xgboost_.check(xgboost_.save_model(handle_, R"({"format":"ubj"})", &size, &bytes));
    return {bytes, static_cast<std::size_t>(size)};
  }

  bool is_better_if_greater(std::string_view metric) const override {
    return is_maximized(metric.substr(names_.back().size() + 1), xgboost_.major());  // early stopping uses the last dataset
  }

 private:
  int threads() const { return std::max(1, std::atoi(parameters_.find_any({"nthread", "n_jobs"})->c_str())); }

  void load_data(Context& ctx, const TableLayout& layout) {
    MatrixPlan plan{.kind = kind_of_matrix(ctx, parameters_), .threads = threads()};
    if (const auto* bins = parameters_.find("max_bin")) plan.max_bin = *bins;
    if (plan.kind == MatrixPlan::Kind::external) require_external_matrix(ctx, xgboost_);
    if (plan.kind == MatrixPlan::Kind::external) cache_.emplace(ctx, ctx.config<std::string>("cache", ""));
    for (const auto& name : names_) {
      const auto data = ctx.dataset(name);
      require_fields(layout, data, name, true);
      TableRows rows(ctx, data, name, layout);
      plan.labels = label_rule(parameters_, xgboost_.major(), xgboost_.minor(), matrices_.empty());
      if (cache_) plan.cache = fmt::format("{}/{}", cache_->path(), name);
      matrices_.push_back(matrices_.empty() ? train_matrix(ctx, rows, plan) : other_matrix(rows, plan));
    }
  }

  std::unique_ptr<XgboostMatrix> train_matrix(Context& ctx, TableRows& rows, MatrixPlan plan) const {
    const bool needs_agreement = xgboost_.major() < 3 && ctx.world_size() > 1 && grows_by_hist(parameters_);
    if (needs_agreement && rows.size() == 0) plan.added = missing_row(rows.layout());
    auto matrix = std::make_unique<XgboostMatrix>(xgboost_, rows, plan, nullptr);
    if (!needs_agreement) return matrix;
    auto agreement = agree_on_missing(ctx, rows, matrix->is_dense());
    if (agreement.is_reached) return matrix;
    matrix.reset();
    plan.added = std::move(agreement.added);
    return std::make_unique<XgboostMatrix>(xgboost_, rows, plan, nullptr);
  }

  /// Adds a row on a rank without queries, which XGBoost would otherwise count as a query with ndcg 1.
  std::unique_ptr<XgboostMatrix> other_matrix(TableRows& rows, MatrixPlan plan) const {
    if (rows.size() == 0 && !rows.layout().group.empty()) plan.added = missing_row(rows.layout());
    return std::make_unique<XgboostMatrix>(xgboost_, rows, plan, matrices_.front().get());
  }

  void make_booster() {
    const auto handles = handles_of_sets();
    xgboost_.check(xgboost_.booster_create(handles.data(), handles.size(), &handle_));
    if (!model_.empty()) xgboost_.check(xgboost_.load_model(handle_, model_.data(), model_.size()));
    model_.clear();
    set_parameters(xgboost_, handle_, parameters_);
    info_.set_of_booster(xgboost_, handle_);
    apply_parameters();
  }

  void apply_parameters() const {
    std::uint64_t features = 0;
    xgboost_.check(xgboost_.feature_count(handle_, &features));
  }

  /// Makes the samples of a round depend only on its number, so that a restart repeats them. The state of the column
  /// sampler continues from round to round, and is not part of the model. XGBoost creates new samplers, with the
  /// current seed, when the name of an updater changes. This function therefore changes the name to another one and
  /// back, and sets the seed of the round. All parameters are set again, because new updaters of XGBoost 1.7 have only
  /// parameters that were set after the change.
  void renew_samplers(int round) const {
    const auto* const names = parameters_.find("updater") != nullptr ? "updater" : "tree_method";
    const auto* const given = parameters_.find(names);
    set(names, different_value(*given));
    apply_parameters();
    for (const auto& [name, value] : parameters_.all())
      if (name != "eval_metric") set(name.c_str(), value);
    const auto* seed = parameters_.find_any({"seed", "random_state"});
    set("seed", std::to_string(std::strtoll(seed->c_str(), nullptr, 10) + round));
  }

  void set(const char* name, const std::string& value) const {
    xgboost_.check(xgboost_.set_param(handle_, name, value.c_str()));
  }
  void set_attribute(const char* name, const std::string& value) const {
    xgboost_.check(xgboost_.set_attribute(handle_, name, value.c_str()));
  }

  std::vector<Handle> handles_of_sets() const {
    std::vector<Handle> handles;
    for (const auto& matrix : matrices_) handles.push_back(matrix->handle());
    return handles;
  }

  const XgboostLibrary xgboost_;
  XgboostLog log_;
  std::vector<std::string> names_;
  const FeatureInfo info_;
  std::string model_;  ///< the checkpoint's model, until start() has loaded it
  std::optional<XgboostCommunicator> communicator_;
  Parameters parameters_;
  std::optional<PrivateFolder> cache_;
  std::vector<std::unique_ptr<XgboostMatrix>> matrices_;  ///< in the order of names_
  Handle handle_ = nullptr;
};

std::unique_ptr<Booster> open_xgboost(Context& ctx, const TableLayout& layout, const Parameters& parameters,
                                      const std::string& model, int) {
  return std::make_unique<XgboostBooster>(ctx, layout, parameters, model);
}

std::unique_ptr<TrainedModel> load_xgboost(Context& ctx, const TableLayout& layout, const std::string& model, int rounds) {
  return std::make_unique<XgboostModel>(ctx, layout, model, rounds);
}

}  // namespace

extern const Library xgboost;
const Library xgboost{.name = "xgboost",
                      .model_file = "model.ubj",
                      .foreign_keys = {{{"init_score", "use base_margin"}}},
                      .open = open_xgboost,
                      .load = load_xgboost};

}  // namespace trainrt::frameworks::trees
