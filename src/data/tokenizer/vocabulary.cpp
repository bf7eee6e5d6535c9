#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/token_model.hpp"

namespace trainrt::data::tokenizer {

std::int32_t token_number(const nlohmann::json& json, std::string_view token) {
  const auto value = json.is_number_integer() ? json.get<std::int64_t>() : -1;
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
    throw UsageError(fmt::format("it gives the token '{}' the number {}", token, json.dump()));
  return static_cast<std::int32_t>(value);
}

Vocabulary::Vocabulary(const nlohmann::json& object) {
  numbers_.reserve(object.size());
  for (const auto& [token, number] : object.items()) numbers_.emplace(token, token_number(number, token));
}

Vocabulary::Vocabulary(const std::vector<std::string>& tokens) {
  std::int32_t number = 0;
  for (const auto& token : tokens) numbers_.insert_or_assign(token, number++);
}

std::int32_t Vocabulary::find(std::string_view token) const {
  const auto found = numbers_.find(token);
  return found == numbers_.end() ? none : found->second;
}

}  // namespace trainrt::data::tokenizer
