#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// Lines of columns for people: each as wide as its widest cell, two blanks between.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);  ///< as many as there are columns; each is shown in one line
  bool empty() const { return rows_.empty(); }
  /// With the titles; every line begins with `indent`.
  std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A name as it is if all of it can be shown; else as a JSON text, with its control characters escaped.
std::string printable(const std::string& name);

}  // namespace trainrt::cli
