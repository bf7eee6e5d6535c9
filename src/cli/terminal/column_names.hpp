#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

namespace trainrt::cli {

/// The columns of a table whose fields of several values are several columns: x_0, x_1, ... A field of such a name beside
/// them would make a table that no reader takes apart again.
class ColumnNames {
 public:
  /// `way_out`: what to do about two columns of one name.
  explicit ColumnNames(std::string_view way_out) : way_out_(way_out) {}
  /// UsageError that names both fields if another one has made a column of that name.
  void add(const std::string& name, const std::string& field);

 private:
  std::string_view way_out_;
  std::unordered_map<std::string, std::string> fields_;  ///< by the name of a column
};

}  // namespace trainrt::cli
