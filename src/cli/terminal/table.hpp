#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// A table as plain text, in columns that are as wide as their widest cells.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< whether cells are aligned to the right, for numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row. Missing cells are empty; line breaks and control characters are escaped.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Returns the titles and the rows as lines, each of which begins with `indent`.
  std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns `name` unchanged if all its characters are printable, otherwise as a JSON string with escaped characters.
std::string printable(const std::string& name);

}  // namespace trainrt::cli
