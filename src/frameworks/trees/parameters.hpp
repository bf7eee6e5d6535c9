#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// The library's own parameters, under its names, as [loop] has them, in the order of their names.
class Parameters {
 public:
  /// All keys of [loop] but those of the train function itself.
  static Parameters of(Context& ctx);

  /// nullptr if it is not given.
  const std::string* find(std::string_view name) const;
  /// One of several names of the same parameter.
  const std::string* find_any(std::initializer_list<std::string_view> names) const;
  void set(std::string name, std::string value);          ///< replaces it
  void set_default(std::string name, std::string value);  ///< if none is given
  void remove(std::string_view name);
  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// The keys of [loop] that trees.json declares for the train functions themselves.
const std::vector<std::string>& declared_keys();

/// Words between commas, as eval_metric has them.
std::vector<std::string> words_of(std::string_view text);

}  // namespace trainrt::frameworks::trees
