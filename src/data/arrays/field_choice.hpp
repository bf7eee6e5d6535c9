#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// A field, and the name of the array of a file that it is read from.
struct FieldChoice {
  std::string field, array;
};

/// Parses the value of the key `fields`: "x, labels=y" chooses the arrays x and y, and y becomes the field labels. Returns
/// an empty list for an empty text.
std::vector<FieldChoice> field_choices(const std::string& fields);

/// Returns the first 20 of `names` for an error message, shortened, and safe to print on a terminal.
std::string names_in_words(const std::vector<std::string_view>& names);

}  // namespace trainrt::data
