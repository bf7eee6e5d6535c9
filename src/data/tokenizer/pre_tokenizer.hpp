#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace trainrt::data::tokenizer {

/// Cuts a text into the pieces that the model sees, each by itself. Pure.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Replaces the pieces by smaller ones. `is_first`: whether pieces[0] begins the whole text.
  virtual void split(std::vector<std::string>& pieces, bool is_first) const = 0;
  virtual bool works_on_bytes() const { return false; }  ///< the model's symbols are bytes, as GPT-2's are
};

/// As the "pre_tokenizer" of a tokenizer.json says; nullptr for null. UsageError for kinds that are not known here. Known:
/// Sequence, ByteLevel, Split, Whitespace, WhitespaceSplit, Digits, Punctuation, BertPreTokenizer, Metaspace.
std::unique_ptr<const PreTokenizer> pre_tokenizer_of(const nlohmann::json& json);

/// BERT's own: at white space, which goes, and at punctuation.
std::unique_ptr<const PreTokenizer> bert_pre_tokenizer();

}  // namespace trainrt::data::tokenizer
