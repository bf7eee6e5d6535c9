#pragma once
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainrt::data {

/// Finds the number of a key by its name. Keys that are asked for in their order, as those of similar objects, are found
/// without a search. The names must live as long as this.
class KeyFinder {
 public:
  explicit KeyFinder(std::vector<std::string_view> names) : names_(std::move(names)) {}

  /// Returns the number of the first key of that name, or of the one behind the last that was found; the number of keys if
  /// there is none.
  std::size_t find(std::string_view name) {
    const auto next = next_ < names_.size() ? next_ : 0;
    const auto found = !names_.empty() && names_[next] == name ? next : searched(name);
    if (found < names_.size()) next_ = found + 1;
    return found;
  }

 private:
  std::size_t searched(std::string_view name) {
    if (numbers_.empty())
      for (std::size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], i);
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? names_.size() : found->second;
  }

  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> numbers_;  ///< none until one is searched
  std::size_t next_ = 0;
};

}  // namespace trainrt::data
