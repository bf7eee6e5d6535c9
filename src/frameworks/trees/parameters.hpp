#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// The keys of [loop] that are parameters of the library (XGBoost or LightGBM), sorted by name.
class Parameters {
 public:
  /// Returns all keys of [loop] except declared_keys().
  static Parameters of(Context& ctx);

  /// Returns the value of a parameter; nullptr if it is not set.
  const std::string* find(std::string_view name) const;
  /// Returns the value of a parameter that has several names; nullptr if the parameter is not set under any of `names`.
  const std::string* find_any(std::initializer_list<std::string_view> names) const;
  void set(std::string name, std::string value);
  void set_default(std::string name, std::string value);  ///< sets the parameter unless it is already set
  void remove(std::string_view name);
  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Returns the keys of [loop] that trees.json declares. The train functions read these keys; all other keys of [loop] are
/// parameters of the library.
const std::vector<std::string>& declared_keys();

/// Splits a comma-separated list, such as the value of eval_metric, and removes the blanks around each item.
std::vector<std::string> words_of(std::string_view text);

}  // namespace trainrt::frameworks::trees
