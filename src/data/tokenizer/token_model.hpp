#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/plugin.hpp"

namespace trainrt::data::tokenizer {

/// A token's number out of JSON; UsageError that names the token for what is no whole number from 0 to 2^31 - 1.
std::int32_t token_number(const nlohmann::json& json, std::string_view token);

/// The number of each token by its text.
class Vocabulary {
 public:
  explicit Vocabulary(const nlohmann::json& object);  ///< UsageError as token_number()
  explicit Vocabulary(const std::vector<std::string>& tokens);
  static constexpr std::int32_t none = -1;
  std::int32_t find(std::string_view token) const;  ///< none if it is not there
  std::size_t size() const { return numbers_.size(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

/// Makes token numbers of one piece of a text. Pure: any threads at once.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  /// Appends those of the piece. `as_bytes`: its symbols are bytes, written as GPT-2 writes them.
  virtual void encode(std::string_view piece, bool as_bytes, std::vector<std::int32_t>& into) const = 0;
  virtual std::int32_t find(std::string_view token) const = 0;
};

/// A plug-in: one file in data/tokenizer/models.
struct TokenModelKind {
  std::string_view name;  ///< "BPE": the "type" of "model" in a tokenizer.json
  std::string_view help;
  /// UsageError for what is not known here, and for a vocabulary that lacks what it needs.
  std::unique_ptr<const TokenModel> (*make)(const nlohmann::json& model);
};

PluginTable<TokenModelKind> token_model_table();

}  // namespace trainrt::data::tokenizer
