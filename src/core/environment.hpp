#pragma once
#include <map>
#include <optional>
#include <string>

namespace trainrt {

/// A set of environment variables. Tests pass made-up ones.
class Environment {
 public:
  /// Returns the variables of this process.
  static Environment of_process();
  explicit Environment(std::map<std::string, std::string> values = {}) : values_(std::move(values)) {}

  const std::map<std::string, std::string>& values() const { return values_; }
  /// Returns the value of a variable; nullopt if it is not set.
  std::optional<std::string> text(const std::string& name) const;
  bool has(const std::string& name) const { return values_.contains(name); }
  /// Returns the value as an integer; nullopt if the variable is not set or empty. Throws UsageError that names the
  /// variable if it has another value.
  std::optional<int> number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace trainrt
