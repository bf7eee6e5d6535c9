#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// A value of a CSV row.
struct CsvValue {
  std::string_view text;      ///< without its quotes; in the row or in the scratch text
  const char* end = nullptr;  ///< at its delimiter or at the end of the row
};

/// Returns the value at `begin` of a row that ends at `end`. `quotes`: the value may be quoted; if it contains doubled
/// quotes, its text is copied to `scratch`. Throws UsageError for a quote that does not close correctly.
CsvValue csv_value(const char* begin, const char* end, char delimiter, bool quotes, std::string& scratch);

/// Returns all values of a row.
std::vector<std::string> csv_values(std::string_view row, char delimiter, bool quotes);

}  // namespace trainrt::data
