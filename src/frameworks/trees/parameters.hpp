#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// The library's own parameters in [loop], sorted by name.
class Parameters {
 public:
  /// Returns all keys of [loop] except those of the train function itself.
  static Parameters of(Context& ctx);

  /// Returns the value of a parameter; nullptr if it is not set.
  const std::string* find(std::string_view name) const;
  /// As find(), for a parameter with several names.
  const std::string* find_any(std::initializer_list<std::string_view> names) const;
  void set(std::string name, std::string value);
  void set_default(std::string name, std::string value);  ///< sets the parameter unless it is already set
  void remove(std::string_view name);
  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Returns the keys of [loop] that trees.json declares for the train functions themselves.
const std::vector<std::string>& declared_keys();

/// Splits a comma-separated list, such as eval_metric; blanks around the items are removed.
std::vector<std::string> words_of(std::string_view text);

}  // namespace trainrt::frameworks::trees
