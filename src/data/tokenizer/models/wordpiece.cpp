#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/token_model.hpp"
#include "data/tokenizer/unicode.hpp"

namespace trainrt::data::tokenizer {

namespace {

/// WordPiece as BERT has it (Wu et al., 2016; Devlin et al., 2018): the longest token that begins the rest of a word, again
/// and again. A word that this does not work for is unknown as a whole.
class WordPiece final : public TokenModel {
 public:
  explicit WordPiece(const nlohmann::json& json)
      : vocabulary_(json.at("vocab")),
        prefix_(json.value("continuing_subword_prefix", "##")),
        most_characters_(most_of(json)) {
    const auto unknown = json.value("unk_token", "[UNK]");
    unknown_ = vocabulary_.find(unknown);
    if (unknown_ < 0) throw UsageError(fmt::format("its vocabulary lacks {}, which unknown words become", unknown));
  }

  std::int32_t find(std::string_view token) const override { return vocabulary_.find(token); }

  void encode(std::string_view piece, bool /*as_bytes*/, std::vector<std::int32_t>& into) const override {
    const auto ends = ends_of_characters(piece);
    if (ends.size() > most_characters_) {
      into.push_back(unknown_);
      return;
    }
    const auto before = into.size();
    for (std::size_t begin = 0; begin < piece.size();) {
      const auto [token, end] = longest(piece, begin, ends);
      if (token < 0) {
        into.resize(before);
        into.push_back(unknown_);
        return;
      }
      into.push_back(token);
      begin = end;
    }
  }

 private:
  static std::size_t most_of(const nlohmann::json& json) {
    constexpr std::size_t usual = 100;
    const auto given = json.find("max_input_chars_per_word");
    return given != json.end() && given->is_number_unsigned() ? given->get<std::size_t>() : usual;
  }

  static std::vector<std::size_t> ends_of_characters(std::string_view piece) {
    std::vector<std::size_t> ends;
    for (auto left = piece; !left.empty();) {
      take_code_point(left);
      ends.push_back(piece.size() - left.size());
    }
    return ends;
  }

  std::pair<std::int32_t, std::size_t> longest(std::string_view piece, std::size_t begin,
                                               const std::vector<std::size_t>& ends) const {
    std::string part = begin > 0 ? prefix_ : "";
    const auto kept = part.size();
    for (auto end = ends.rbegin(); end != ends.rend() && *end > begin; ++end) {
      part.resize(kept);
      part += piece.substr(begin, *end - begin);
      if (const auto token = vocabulary_.find(part); token >= 0) return {token, *end};
    }
    return {Vocabulary::none, begin};
  }

  Vocabulary vocabulary_;
  std::string prefix_;
  std::size_t most_characters_;
  std::int32_t unknown_ = Vocabulary::none;
};

std::unique_ptr<const TokenModel> make_wordpiece(const nlohmann::json& model) { return std::make_unique<WordPiece>(model); }

}  // namespace

namespace plugins {

extern const TokenModelKind wordpiece{.name = "WordPiece", .help = "as BERT's", .make = make_wordpiece};

}  // namespace plugins

}  // namespace trainrt::data::tokenizer
