#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainrt::data {

/// A field of the dataset, and the index of the array that contains its values, among the arrays of a file.
struct FieldChoice {
  std::string field;
  std::size_t array = 0;
};

/// Returns the fields that `fields`, the value of the key `fields`, chooses: "x, labels=y" chooses the arrays x and y, and
/// y becomes the field labels. If `fields` is empty, each array is a field. `names` are the names of the arrays in the
/// file. Throws UsageError, which begins with `what`, the name of the file, in these cases: the file has no arrays, lacks
/// a chosen array, or two arrays would become the same field.
std::vector<FieldChoice> chosen_fields(const std::string& fields, const std::vector<std::string>& names,
                                       const std::string& what);

/// Throws UsageError unless all fields have the same number of samples. `samples` has the name and the number of samples
/// of each field. The message begins with `what`.
void require_same_samples(const std::vector<std::pair<std::string, std::uint64_t>>& samples, const std::string& what);

}  // namespace trainrt::data
