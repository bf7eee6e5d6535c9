#pragma once
#include <array>
#include <vector>

#include "data/preprocess/columnwise.hpp"

namespace trainrt::data {

/// Returns the parameters of a discretizer. `bins` is the declaration of its parameter `bins`.
constexpr std::array<ParameterSpec, 7> binning_parameters(const ParameterSpec& bins) {
  return {columns_parameter,
          bins,
          keyword_only({"right", ParameterType::flag,
                        "true: each bin includes its upper edge; false: each bin includes its lower edge", "true"}),
          {"include_lowest", ParameterType::flag, "whether the first bin also includes the lowest edge", "false"},
          {"duplicates", ParameterType::choice, "action for equal edges: raise (an error) or drop (keep one of them)",
           "\"raise\"", "raise, drop"},
          {"dtypes", ParameterType::python_only,
           "types of the bins of a DataFrame by column: a pandas.CategoricalDtype, whose categories name the bins, or an "
           "integer type",
           "null"},
          output_columns_parameter};
}

/// Replaces each number by the number of its bin, from 0, as i64. NaN and numbers outside all bins become -1. Bins are
/// the intervals between neighbouring edges, as in pandas.cut().
class Binning : public Columnwise {
 public:
  explicit Binning(const Parameters& given);

 protected:
  /// Sets the edges of each column. With duplicates = drop, duplicate edges are removed first. Throws UsageError unless
  /// the edges are then strictly increasing.
  void set_edges(std::vector<std::vector<double>> edges);
  void require(const Dataset::Field& field) const final;
  bool is_right() const { return is_right_; }

 private:
  Dataset::Field output(std::size_t at, const Dataset::Field& from) const final;
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;
  bool is_right_, includes_lowest_, drops_duplicates_;
  std::vector<std::vector<double>> edges_;  ///< edges of the bins of each column
};

/// Calls read(value) for each column, and returns the results. If the parameter `bins` is a JSON object, `value` is the
/// object's member for the column. Otherwise, `value` is `bins`. Throws UsageError if the object has no member for a
/// column.
template <class Read>
auto bins_per_column(const nlohmann::json& bins, const std::vector<std::string>& columns, Read&& read) {
  std::vector<decltype(read(bins))> found;
  for (const auto& column : columns) {
    if (bins.is_object() && !bins.contains(column)) throw UsageError("bins has no value for the column '" + column + "'");
    found.push_back(read(bins.is_object() ? bins.at(column) : bins));
  }
  return found;
}

}  // namespace trainrt::data
