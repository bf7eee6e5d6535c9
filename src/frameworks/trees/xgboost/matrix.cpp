#include "frameworks/trees/xgboost/matrix.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/xgboost/array_interface.hpp"
#include "frameworks/trees/xgboost/blocked_signals.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// NaN is not standard JSON, but XGBoost accepts it.
std::string matrix_config(const MatrixPlan& plan) {
  auto config = fmt::format(R"({{"missing":NaN,"nthread":{},"max_bin":{})", plan.threads, plan.max_bin);
  if (!plan.cache.empty()) config += R"(,"cache_prefix":)" + nlohmann::json(plan.cache).dump();
  return config + "}";
}

}  // namespace

XgboostMatrix::XgboostMatrix(const XgboostLibrary& library, TableRows& rows, const MatrixPlan& plan,
                             const XgboostMatrix* reference)
    : xgboost_(library) {
  RowFeed feed(xgboost_, rows, plan.added, plan.labels);
  const BlockedSignals held;
  const int code = create(feed, plan, reference != nullptr ? reference->handle() : nullptr);
  feed.rethrow();
  xgboost_.check(code);
  set_groups(feed);
  set_margins(feed, rows.layout().margins);
  set_bounds(feed);
  FeatureInfo(rows.layout()).set_of_matrix(xgboost_, handle_);
}

int XgboostMatrix::create(RowFeed& feed, const MatrixPlan& plan, XgboostLibrary::Handle reference) {
  const auto config = matrix_config(plan);
  if (plan.kind == MatrixPlan::Kind::plain)
    return xgboost_.create_from_batches(feed.handle(), RowFeed::next_batch, &handle_);
  if (plan.kind == MatrixPlan::Kind::quantile)
    return xgboost_.quantile_create(feed.handle(), feed.proxy(), reference, RowFeed::reset, RowFeed::next, config.c_str(),
                                    &handle_);
  if (xgboost_.external_quantile_create != nullptr)
    return xgboost_.external_quantile_create(feed.handle(), feed.proxy(), reference, RowFeed::reset, RowFeed::next,
                                             config.c_str(), &handle_);
  return xgboost_.external_create(feed.handle(), feed.proxy(), RowFeed::reset, RowFeed::next, config.c_str(), &handle_);
}

bool XgboostMatrix::is_dense() const {
  std::uint64_t rows = 0, columns = 0, values = 0;
  xgboost_.check(xgboost_.row_count(handle_, &rows));
  xgboost_.check(xgboost_.column_count(handle_, &columns));
  xgboost_.check(xgboost_.value_count(handle_, &values));
  return values == rows * columns;
}

XgboostMatrix::~XgboostMatrix() {
  if (handle_ != nullptr) xgboost_.matrix_free(handle_);
}

/// Sets the groups of the complete matrix. They cannot be set for each block, since a group may continue in the next block.
void XgboostMatrix::set_groups(const RowFeed& feed) {
  const auto& sizes = feed.group_sizes();
  if (sizes.empty()) return;
  xgboost_.check(xgboost_.set_info(handle_, "group", array_interface(sizes.data(), "u4", {sizes.size()}).c_str()));
  const auto& weights = feed.group_weights();
  if (!weights.empty())
    xgboost_.check(xgboost_.set_info(handle_, "weight", array_interface(weights.data(), "f4", {weights.size()}).c_str()));
}

/// Sets the margins of the complete matrix, because the blocks of a plain matrix cannot hold margins.
void XgboostMatrix::set_margins(const RowFeed& feed, std::uint64_t width) {
  const auto& margins = feed.margins();
  if (margins.empty()) return;
  const auto text = array_interface(margins.data(), "f4", {margins.size() / width, width});
  xgboost_.check(xgboost_.set_info(handle_, "base_margin", text.c_str()));
}

/// Sets the bounds of the complete matrix, because the blocks of a plain matrix cannot hold bounds.
void XgboostMatrix::set_bounds(const RowFeed& feed) {
  const auto set = [this](const char* name, const std::vector<float>& bounds) {
    if (!bounds.empty())
      xgboost_.check(xgboost_.set_info(handle_, name, array_interface(bounds.data(), "f4", {bounds.size()}).c_str()));
  };
  set("label_lower_bound", feed.lower_bounds());
  set("label_upper_bound", feed.upper_bounds());
}

}  // namespace trainrt::frameworks::trees
