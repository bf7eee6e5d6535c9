#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

namespace trainrt::frameworks::trees {

/// A column of the matrix from which XGBoost or LightGBM grows trees.
struct Feature {
  std::string name;             ///< name of the field; NAME_0, NAME_1, ... if the field has several values
  std::string field;            ///< field of the dataset
  std::size_t element = 0;      ///< index of the value in the field
  bool is_categorical = false;  ///< whether each value is the number of a category: an integer from 0
  /// The categories of a text field, sorted. A text is replaced by its index in this list, or by a missing value if the
  /// list does not contain the text.
  std::vector<std::string> categories = {};
};

/// The fields of a dataset that training uses, and their purposes. All ranks have the same layout. Every checkpoint
/// contains the layout, so that predictions use the columns of the training. The name of an unused field is "". A missing
/// value is NaN.
struct TableLayout {
  std::vector<Feature> features;  ///< in the order of the columns; empty if the matrix is sparse
  std::uint64_t columns = 0;      ///< number of columns of the matrix
  std::string label;              ///< label of the row; unused ("") only if the layout has lower_bound and upper_bound
  std::string lower_bound, upper_bound;  ///< bounds of the label, for survival:aft
  std::string weight;                    ///< weight of the row; if unused, every row has the weight 1
  std::string group;                     ///< query of the row, for ranking; the rows of a query are consecutive
  std::string base_margin;               ///< initial score of the row in XGBoost, in training and predictions
  std::string init_score;                ///< initial score of the row in LightGBM, in training only
  std::uint64_t margins = 0;             ///< number of values per row in base_margin or init_score
  /// The fields of a sparse matrix: the lists of column numbers and the lists of values of each row.
  std::string sparse_indices, sparse_values;
  DType dtype = DType::f32;  ///< type of the matrix: f64 if a field needs it (f64, i32, i64)

  bool is_sparse() const { return !sparse_indices.empty(); }
  const std::string& margin() const { return base_margin.empty() ? init_score : base_margin; }
  std::string to_json() const;                            ///< throws UsageError for names and texts that are not UTF-8
  static TableLayout from_json(const std::string& text);  ///< throws Error for invalid JSON
};

/// A key of [loop] that names a field, such as `label`, and the member of TableLayout that stores the name of the field.
struct RowField {
  const char* key;
  std::string TableLayout::*field;
};
inline constexpr RowField row_fields[] = {{"label", &TableLayout::label},
                                          {"weight", &TableLayout::weight},
                                          {"group", &TableLayout::group},
                                          {"base_margin", &TableLayout::base_margin},
                                          {"init_score", &TableLayout::init_score},
                                          {"label_lower_bound", &TableLayout::lower_bound},
                                          {"label_upper_bound", &TableLayout::upper_bound}};

/// Returns the layout of [data.train] that the keys of row_fields, features, categorical, sparse and columns of [loop]
/// describe, with the categories of texts. Collective. Throws UsageError, which names the key, the field and the existing
/// fields.
TableLayout layout_of(Context& ctx);

/// Returns the result of layout_of() without the categories of texts. Collective only if the columns of a sparse matrix
/// must be counted.
TableLayout chosen_layout(Context& ctx);

/// Returns a text for the log that lists the unused fields of [data.train] with their types. Returns "" if every field is
/// used, or if [loop] names the features.
std::string left_out_of(const TableLayout& layout, Context& ctx);

/// Returns a description of the first difference between two layouts; "" if the layouts are equal. Ignores the categories
/// of texts.
std::string difference_of(const TableLayout& before, const TableLayout& now);

/// Throws UsageError if the layout has initial scores whose number per row is not `outputs`. `outputs`: number of outputs
/// of the model.
void require_margin_each(const TableLayout& layout, std::uint64_t outputs);

/// Throws UsageError if the dataset [data.NAME] lacks a field of the layout, or if the shape or the kind of type of a field
/// differs from the layout. `with_targets`: true for training. Predictions pass false: of the fields in row_fields, only
/// base_margin is then checked.
void require_fields(const TableLayout& layout, const Dataset& data, const std::string& name, bool with_targets);

}  // namespace trainrt::frameworks::trees
