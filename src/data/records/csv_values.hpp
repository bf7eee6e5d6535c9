#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// One value of a row of CSV, and where it ends: at its delimiter or at the row's end.
struct CsvValue {
  std::string_view text;  ///< without its quotes
  const char* end = nullptr;
};

/// The value that `begin` begins with. `scratch` is where it stands if quotes in it had to be undone. Throws Error that
/// says what is wrong with quotes that do not close.
CsvValue csv_value(const char* begin, const char* end, char delimiter, bool quotes, std::string& scratch);

/// All values of a row.
std::vector<std::string> csv_values(std::string_view row, char delimiter, bool quotes);

}  // namespace trainrt::data
