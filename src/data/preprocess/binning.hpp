#pragma once
#include <array>
#include <memory>

#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// Returns the declarations of a discretizer's parameters. `bins` is the declaration of the parameter `bins`.
constexpr std::array<ParameterSpec, 7> binning_parameters(const ParameterSpec& bins) {
  return {columns_parameter,
          bins,
          keyword_only({"right", ParameterType::flag,
                        "true: each bin includes its upper edge; false: each bin includes its lower edge", "true"}),
          {"include_lowest", ParameterType::flag, "whether the first bin also includes the lowest edge", "false"},
          {"duplicates", ParameterType::choice, "action for equal edges: raise (an error) or drop (keep one of them)",
           "\"raise\"", "raise, drop"},
          {"dtypes", ParameterType::python_only,
           "types of the bins of a DataFrame by column: "
           "a pandas.CategoricalDtype, whose categories name the bins, or an integer type",
           "null"},
          output_columns_parameter};
}

/// Creates a preprocessor that replaces each number by the number of its bin, from 0, as i64. NaN and numbers outside all
/// bins become -1.
///
/// Bins are the intervals between neighbouring edges, as in pandas.cut(). If `max_bins` is 0, the preprocessor's parameter
/// `bins` has the edges. Otherwise `bins` is the number of bins, from 1 to `max_bins`. These bins divide the range from the
/// minimum to the maximum of a column, which fit() finds, into intervals of equal width.
std::unique_ptr<Preprocessing> make_binning(const Parameters& given, std::int64_t max_bins = 0);

}  // namespace trainrt::data
