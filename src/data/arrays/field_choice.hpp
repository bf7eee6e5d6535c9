#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// A field of the dataset, and the name of the array in the file from which the field is read.
struct FieldChoice {
  std::string field, array;
};

/// Parses the value of the key `fields`: "x, labels=y" chooses the arrays x and y, and y becomes the field labels. Returns
/// an empty list for an empty text.
std::vector<FieldChoice> field_choices(const std::string& fields);

/// Returns a comma-separated list of the first 20 of `names`, for an error message. Long names are shortened, and
/// characters that are unsafe on a terminal are replaced.
std::string names_in_words(const std::vector<std::string_view>& names);

}  // namespace trainrt::data
