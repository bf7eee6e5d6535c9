#pragma once
#include <map>
#include <optional>
#include <string>

namespace trainrt {

/// A set of environment variables with their values: those of this process, or made-up ones in tests.
class Environment {
 public:
  /// Returns a copy of the environment variables of this process.
  static Environment of_process();
  explicit Environment(std::map<std::string, std::string> values = {}) : values_(std::move(values)) {}

  const std::map<std::string, std::string>& values() const { return values_; }
  /// Returns the value of environment variable `name`; nullopt if it is not set.
  std::optional<std::string> text(const std::string& name) const;
  bool has(const std::string& name) const { return values_.contains(name); }
  /// Returns the value of environment variable `name` as an integer; nullopt if the variable is not set or empty. Throws
  /// UsageError, which names the variable, if the value is not an integer.
  std::optional<int> number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace trainrt
