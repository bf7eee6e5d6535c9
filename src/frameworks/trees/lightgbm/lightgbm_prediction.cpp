#include "frameworks/trees/lightgbm/lightgbm_prediction.hpp"

namespace trainrt::frameworks::trees {

int type_of_values(const TableLayout& layout) {
  return static_cast<int>(layout.dtype == DType::f64 ? LightgbmLibrary::Type::f64 : LightgbmLibrary::Type::f32);
}

int predict_block(const LightgbmLibrary& library, const LightgbmPrediction& prediction, const RowBlock& block,
                  double* values) {
  const auto columns = static_cast<std::int32_t>(prediction.layout.columns);
  const auto type = type_of_values(prediction.layout);
  const auto* const parameters = prediction.parameters.c_str();
  std::int64_t count = 0;
  if (!prediction.layout.is_sparse())
    return library.predict(prediction.model, block.values, type, static_cast<std::int32_t>(block.rows), columns, 1,
                           prediction.kind, prediction.first_round, prediction.rounds, parameters, &count, values);
  return library.predict_sparse(prediction.model, block.row_starts.data(), static_cast<int>(LightgbmLibrary::Type::i64),
                                block.columns.data(), block.values, type,
                                static_cast<std::int64_t>(block.row_starts.size()),
                                static_cast<std::int64_t>(block.columns.size()), columns, prediction.kind,
                                prediction.first_round, prediction.rounds, parameters, &count, values);
}

}  // namespace trainrt::frameworks::trees
