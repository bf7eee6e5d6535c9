#pragma once
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace trainrt::data::tokenizer {

/// What is done to a text before it is split. Pure.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Valid UTF-8 in and out.
  virtual std::string apply(std::string text) const = 0;
};

/// As the "normalizer" of a tokenizer.json of Hugging Face's tokenizers says; nullptr for null. UsageError for kinds that
/// are not known here. Known: Sequence, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace,
/// BertNormalizer.
std::unique_ptr<const Normalizer> normalizer_of(const nlohmann::json& json);

/// BERT's own (Devlin et al., 2018): control characters go, white space becomes blanks, Chinese characters stand alone;
/// with `lowercase` accents go too.
std::unique_ptr<const Normalizer> bert_normalizer(bool lowercase);

/// The text with U+FFFD for what is no UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace trainrt::data::tokenizer
