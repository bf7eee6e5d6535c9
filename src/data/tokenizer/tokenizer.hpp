#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/tokenizer/added_tokens.hpp"
#include "data/tokenizer/normalizer.hpp"
#include "data/tokenizer/pre_tokenizer.hpp"
#include "data/tokenizer/token_model.hpp"

namespace trainrt::data::tokenizer {

/// Makes token numbers of texts as Hugging Face's tokenizers do with the same file. Any threads may use it at once.
class Tokenizer {
 public:
  /// A tokenizer.json, or a vocabulary for WordPiece, a token a line (any other name), whose texts are made lower case if
  /// `lowercase`. Nothing in the file is executed. UsageError that names the file and what is wrong or not known here.
  static std::shared_ptr<const Tokenizer> load(const std::string& path, bool lowercase);
  Tokenizer(const nlohmann::json& json);

  /// Appends the tokens of a text. `with_special`: with those that the file's post_processor puts around one text ([CLS],
  /// <s>), which stay if there are more than `most` in all. Padding and truncation of the file do not count.
  void encode(std::string_view text, bool with_special, std::vector<std::int32_t>& into,
              std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  std::size_t special_tokens() const { return before_.size() + after_.size(); }  ///< around a text
  std::int32_t find(std::string_view token) const;                               ///< < 0 if it is not there

 private:
  /// What was made of pieces before; words come again and again.
  struct Memory {
    std::mutex mutex;
    std::unordered_map<std::string, std::vector<std::int32_t>> tokens;
  };
  void encode_part(std::string_view text, bool is_first, std::vector<std::int32_t>& into) const;
  void encode_plain(std::string_view normalized, bool is_first, std::vector<std::int32_t>& into) const;
  void encode_piece(const std::string& piece, std::vector<std::int32_t>& into) const;
  void take_post_processor(const nlohmann::json& json);

  std::unique_ptr<const Normalizer> normalizer_;
  std::unique_ptr<const PreTokenizer> pre_tokenizer_;
  std::unique_ptr<const TokenModel> model_;
  bool as_bytes_ = false;
  const AddedTokens raw_added_, normalized_added_;
  std::vector<std::int32_t> before_, after_;  ///< special tokens around a text
  mutable std::array<Memory, 16> memories_;
};

}  // namespace trainrt::data::tokenizer
