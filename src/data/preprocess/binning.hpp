#pragma once
#include <string>
#include <vector>

#include "data/preprocess/columnwise.hpp"

namespace trainrt::data {

/// One that makes of each number the number of its bin, from 0 on, as i64; -1 for NaN, and what lies in none. Bins lie
/// between neighbours of a growing list of edges (pandas.cut): with `right` the upper edge belongs to a bin, else the lower
/// one; with `include_lowest` the first edge does so too.
class Binning : public Columnwise {
 public:
  explicit Binning(Parameters& given);

 protected:
  /// UsageError if they do not grow; equal ones are left out if `duplicates` says so.
  void set_edges(std::vector<std::vector<double>> edges);
  bool is_right() const { return is_right_; }

 private:
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const final;
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;
  bool is_right_, includes_lowest_, drops_duplicates_;
  std::vector<std::vector<double>> edges_;  ///< of each column
};

/// A parameter that is the same for all columns, or an object with one for each: calls read(value) for each column.
template <class T, class Read>
std::vector<T> of_each_column(const nlohmann::json& value, const std::vector<std::string>& columns, Read&& read) {
  std::vector<T> found;
  for (const auto& column : columns) {
    const auto own = value.is_object() ? value.find(column) : value.end();
    if (value.is_object() && own == value.end()) throw UsageError("bins has nothing for the column '" + column + "'");
    found.push_back(read(value.is_object() ? *own : value));
  }
  return found;
}

}  // namespace trainrt::data
