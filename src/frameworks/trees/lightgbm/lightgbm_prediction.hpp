#pragma once
#include <string>

#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// A model with the kind of its predictions (LightgbmLibrary::normal, ...) and the rounds to use.
struct LightgbmPrediction {
  LightgbmLibrary::Handle model = nullptr;
  const TableLayout& layout;
  int kind = LightgbmLibrary::normal;
  int rounds = -1;              ///< number of rounds to use; -1 uses all
  std::string parameters = {};  ///< for the library: "name=value"
  int first_round = 0;
};

/// Fills `values` (rows x outputs, row-major) with predictions; returns the library's code, for LightgbmLibrary::check().
int predict_block(const LightgbmLibrary& library, const LightgbmPrediction& prediction, const RowBlock& block,
                  double* values);

/// Returns LightGBM's number for the element type of the matrix.
int type_of_values(const TableLayout& layout);

}  // namespace trainrt::frameworks::trees
