#pragma once
#include <map>
#include <optional>
#include <string>

namespace trainrt {

/// The environment variables, as a value that tests can make up.
class Environment {
 public:
  static Environment of_process();
  explicit Environment(std::map<std::string, std::string> values = {}) : values_(std::move(values)) {}

  std::optional<std::string> text(const std::string& name) const;
  bool has(const std::string& name) const { return values_.contains(name); }
  /// A whole number; an Error that names the variable if it holds something else.
  std::optional<int> number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace trainrt
