#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainrt::data {

/// The parameters of a preprocessor, by their names: JSON of their types, or all as texts, as a config has them ("a, b" for
/// a list). Each that is asked for becomes part of used(), as JSON of its type. What is wrong with one, or missing, is a
/// UsageError that names it.
class Parameters {
 public:
  explicit Parameters(nlohmann::json given);

  std::vector<std::string> names(std::string_view key);  ///< one at least, none twice
  std::vector<std::string> names(std::string_view key, const std::vector<std::string>& otherwise);
  std::string text(std::string_view key, std::optional<std::string_view> otherwise = std::nullopt);
  std::string choice(std::string_view key, const std::vector<std::string>& choices, std::string_view otherwise);
  double number(std::string_view key);
  std::vector<double> numbers(std::string_view key, const std::vector<double>& otherwise);
  std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<std::int64_t> whole_if_given(std::string_view key, std::int64_t least, std::int64_t most);
  bool flag(std::string_view key, bool otherwise);
  nlohmann::json any(std::string_view key);  ///< as it is; null if it is not given

  /// UsageError for one that nobody has asked for.
  void require_all_used() const;
  const nlohmann::json& used() const { return used_; }

 private:
  const nlohmann::json* find(std::string_view key);
  const nlohmann::json& get(std::string_view key);
  std::vector<std::string> list(std::string_view key, const nlohmann::json& value) const;

  nlohmann::json given_;
  nlohmann::json used_ = nlohmann::json::object();
};

}  // namespace trainrt::data
