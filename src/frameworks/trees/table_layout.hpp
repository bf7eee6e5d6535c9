#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>

namespace trainrt::frameworks::trees {

/// One column of the matrix that a library of boosted trees gets.
struct Feature {
  std::string name;             ///< the field's; of a field of several values NAME_0, NAME_1, ...
  std::string field;            ///< where its values come from
  std::size_t element = 0;      ///< which of the field's values
  bool is_categorical = false;  ///< whole numbers from 0 on that name categories
  std::vector<std::string> categories =
      {};  ///< of a text field: number i is categories[i]; sorted. A text that is none is missing
};

/// Which fields of a dataset are what: the same on all ranks, and part of every checkpoint, so that predictions find the
/// same columns. A value that is missing is NaN.
struct TableLayout {
  std::vector<Feature> features;         ///< in the order of the columns; none if it is sparse
  std::uint64_t columns = 0;             ///< of the matrix
  std::string label;                     ///< "": only if there are bounds
  std::string lower_bound, upper_bound;  ///< of the label, for survival:aft; "": none
  std::string weight;                    ///< "": every row counts 1
  std::string group;                     ///< "": no ranking; rows with the same number follow one another
  std::string base_margin;    ///< what XGBoost adds the rows' trees to, also in predictions; "": nothing of the rows' own
  std::string init_score;     ///< what LightGBM adds them to; "": nothing of the rows' own
  std::uint64_t margins = 0;  ///< numbers a row of either
  std::string sparse_indices,
      sparse_values;         ///< fields of lists: the columns of a row and their values; "": dense
  DType dtype = DType::f32;  ///< of the matrix: f64 if a field needs it (f64, i32, i64)

  bool is_sparse() const { return !sparse_indices.empty(); }
  const std::string& margin() const { return base_margin.empty() ? init_score : base_margin; }
  std::string to_json() const;                            ///< UsageError for names and texts that are no UTF-8
  static TableLayout from_json(const std::string& text);  ///< Error for what is none
};

/// A key of [loop] that names a field which is no column of the matrix, and where the layout has its name.
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

/// What the keys of row_fields, features, categorical, sparse and columns of [loop] make of [data.train].
/// Collective: the texts of categorical columns are gathered from all ranks' parts. UsageError that names key and field,
/// with the fields there are.
TableLayout layout_of(Context& ctx);

/// The same without the texts of categories. Collective only if the columns of a sparse matrix are counted.
TableLayout chosen_layout(Context& ctx);

/// Returns the fields of [data.train] that are neither features nor named by another key of [loop], each with the reason,
/// for one line of the log; "" if there are none, or if [loop] names the features.
std::string left_out_of(const TableLayout& layout, Context& ctx);

/// What differs between two layouts but for the texts of categories, in words; "" if nothing does.
std::string difference_of(const TableLayout& before, const TableLayout& now);

/// UsageError if the layout has margins, and another count of them a row than the model has outputs.
void require_margin_each(const TableLayout& layout, std::uint64_t outputs);

/// UsageError if the dataset [data.NAME] lacks a field of the layout, or has it with another shape or kind of type. Without
/// `with_targets`, for predictions: but for those of row_fields, of which only base_margin is needed.
void require_fields(const TableLayout& layout, const Dataset& data, const std::string& name, bool with_targets);

}  // namespace trainrt::frameworks::trees
