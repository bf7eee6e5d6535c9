#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

namespace trainrt::cli {

/// The names of the columns of a .csv file. A field `x` with several values has the columns x_0, x_1, ...; another field
/// with one of these names would make the file ambiguous.
class CsvColumnNames {
 public:
  /// `advice` is the end of the error message: how to avoid two columns with one name. The text must outlive this object.
  explicit CsvColumnNames(std::string_view advice) : advice_(advice) {}
  /// Adds the column `name` of `field`. Throws UsageError that names both fields if the name exists already.
  void add(const std::string& name, const std::string& field);

 private:
  std::string_view advice_;
  std::unordered_map<std::string, std::string> fields_;  ///< key: name of a column
};

}  // namespace trainrt::cli
