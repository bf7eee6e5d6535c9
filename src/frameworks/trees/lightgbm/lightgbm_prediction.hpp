#pragma once
#include <string>

#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// What a model predicts.
struct LightgbmPrediction {
  LightgbmLibrary::Handle model = nullptr;
  const TableLayout& layout;
  int kind = LightgbmLibrary::normal;
  int rounds = -1;              ///< of the model; -1: all
  std::string parameters = {};  ///< as the library takes them
  int first_round = 0;
};

/// The code of the call that fills rows x outputs, row-major.
int predicted(const LightgbmLibrary& library, const LightgbmPrediction& prediction, const RowBlock& block, double* values);

/// As LightGBM numbers the types of the matrix.
int type_of_values(const TableLayout& layout);

}  // namespace trainrt::frameworks::trees
