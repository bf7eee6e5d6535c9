#include "frameworks/trees/xgboost/xgboost_model.hpp"

#include <limits>
#include <memory>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/cpus_of_rank.hpp"
#include "frameworks/trees/xgboost/array_interface.hpp"

namespace trainrt::frameworks::trees {

XgboostModel::XgboostModel(Context& ctx, const TableLayout& layout, const std::string& model, int rounds)
    : xgboost_(ctx.library("xgboost")), log_(xgboost_, ctx), layout_(layout), info_(layout), rounds_(rounds) {
  xgboost_.check(xgboost_.booster_create(nullptr, 0, &handle_));
  xgboost_.check(xgboost_.load_model(handle_, model.data(), model.size()));
  const auto threads = std::to_string(cpus_of_rank(ctx));
  xgboost_.check(xgboost_.set_param(handle_, "nthread", ctx.config<std::string>("nthread", threads).c_str()));
  outputs_ = outputs_per_row();
}

XgboostModel::~XgboostModel() { xgboost_.booster_free(handle_); }

void XgboostModel::predict(const RowBlock& block, std::vector<double>& values) {
  const std::unique_ptr<void, int (*)(void*)> matrix(matrix_of(block), xgboost_.matrix_free);
  const auto config =
      fmt::format(R"({{"type":0,"training":false,"iteration_begin":0,"iteration_end":{},"strict_shape":false}})", rounds_);
  const std::uint64_t* shape = nullptr;
  std::uint64_t axes = 0;
  const float* found = nullptr;
  xgboost_.check(xgboost_.predict(handle_, matrix.get(), config.c_str(), &shape, &axes, &found));
  std::size_t count = 1;
  for (std::uint64_t axis = 0; axis < axes; ++axis) count *= shape[axis];
  values.assign(found, found + count);
}

/// Finds the number of outputs from the prediction for a row without values, since the shapes that XGBoost returns omit
/// axes of length one.
std::size_t XgboostModel::outputs_per_row() {
  const std::vector<double> missing(layout_.is_sparse() ? 0 : layout_.columns, std::numeric_limits<double>::quiet_NaN());
  const std::vector<float> missing_floats(missing.begin(), missing.end());
  const std::int64_t starts[] = {0, 0};
  RowBlock row{.rows = 1};
  row.values = layout_.dtype == DType::f64 ? static_cast<const void*>(missing.data()) : missing_floats.data();
  row.row_starts = starts;
  std::vector<double> values;
  predict(row, values);
  return values.size();
}

XgboostLibrary::Handle XgboostModel::matrix_of(const RowBlock& block) const {
  constexpr const char* config = R"({"missing":NaN,"nthread":1})";
  const auto [row_starts, columns, values] = arrays_of(block, layout_);
  XgboostLibrary::Handle matrix = nullptr;
  xgboost_.check(layout_.is_sparse() ? xgboost_.create_from_csr(row_starts.c_str(), columns.c_str(), values.c_str(),
                                                                layout_.columns, config, &matrix)
                                     : xgboost_.create_from_dense(values.c_str(), config, &matrix));
  info_.set_of_matrix(xgboost_, matrix);
  if (block.margin.empty()) return matrix;
  const std::vector<float> margins(block.margin.begin(), block.margin.end());
  const auto text = array_interface(margins.data(), "f4", {block.rows, static_cast<std::size_t>(layout_.margins)});
  xgboost_.check(xgboost_.set_info(matrix, "base_margin", text.c_str()));
  return matrix;
}

}  // namespace trainrt::frameworks::trees
