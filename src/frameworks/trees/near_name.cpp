#include "frameworks/trees/near_name.hpp"

#include <algorithm>
#include <vector>

namespace trainrt::frameworks::trees {

namespace {

/// Returns the number of typing errors between two names (optimal string alignment): letters that are changed, inserted,
/// removed, or swapped with the next letter.
std::size_t typing_errors(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> errors(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i)
    for (std::size_t j = 0; j <= right.size(); ++j) {
      auto& least = errors[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min(
          {errors[i - 1][j] + 1, errors[i][j - 1] + 1, errors[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        least = std::min(least, errors[i - 2][j - 2] + 1);
    }
  return errors.back().back();
}

}  // namespace

std::string near_name(std::string_view name, std::span<const std::string_view> names) {
  constexpr std::size_t max_letters = 64;  // all valid names are shorter
  if (name.size() > max_letters) return {};
  auto least = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string_view nearest;
  for (const auto other : names)
    if (const auto errors = typing_errors(name, other); errors < least) {
      least = errors;
      nearest = other;
    }
  return std::string(nearest);
}

}  // namespace trainrt::frameworks::trees
