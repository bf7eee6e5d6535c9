#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/token_model.hpp"
#include "data/tokenizer/unicode.hpp"

namespace trainrt::data::tokenizer {

namespace {

using Json = nlohmann::json;

/// GPT-2's way to write each byte as one printable character.
std::array<std::string, 256> characters_of_bytes() {
  std::array<std::string, 256> characters;
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    append_code_point(characters[byte], is_printable ? byte : next++);
  }
  return characters;
}

struct Merge {
  std::int32_t order = 0;
  std::int32_t becomes = 0;
};

/// Byte-pair encoding (Sennrich, Haddow and Birch, 2016): the neighbours that were merged first in training are merged
/// first.
class Bpe final : public TokenModel {
 public:
  explicit Bpe(const Json& json)
      : vocabulary_(json.at("vocab")),
        is_whole_first_(json.value("ignore_merges", false)),
        falls_back_(json.value("byte_fallback", false)),
        fuses_unknown_(json.value("fuse_unk", false)) {
    for (const auto* key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (json.contains(key) && json.at(key).is_string() && !json.at(key).get<std::string>().empty())
        throw UsageError(fmt::format("its model has a {}, which is not known here", key));
    if (json.contains("dropout") && json.at("dropout").is_number() && json.at("dropout").get<double>() > 0)
      throw UsageError("its model has a dropout, which is not known here");
    if (json.contains("unk_token") && json.at("unk_token").is_string())
      unknown_ = vocabulary_.find(json.at("unk_token").get<std::string>());
    const auto characters = characters_of_bytes();
    for (std::size_t byte = 0; byte < 256; ++byte) {
      of_byte_[byte] = vocabulary_.find(characters[byte]);
      fallback_[byte] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
    }
    take_merges(json.at("merges"));
  }

  std::int32_t find(std::string_view token) const override { return vocabulary_.find(token); }

  void encode(std::string_view piece, bool as_bytes, std::vector<std::int32_t>& into) const override {
    if (is_whole_first_)
      if (const auto whole = vocabulary_.find(as_bytes ? written(piece) : std::string(piece)); whole >= 0) {
        into.push_back(whole);
        return;
      }
    std::vector<Symbol> symbols;
    as_bytes ? take_bytes(piece, symbols) : take_characters(piece, symbols);
    merge(symbols);
    for (std::int32_t at = 0; at >= 0 && !symbols.empty(); at = symbols[static_cast<std::size_t>(at)].next)
      into.push_back(symbols[static_cast<std::size_t>(at)].token);
  }

 private:
  /// In a list of neighbours; token < 0: merged into the one before.
  struct Symbol {
    std::int32_t token, before, next;
  };
  struct Candidate {
    std::int32_t order, at, becomes, left, right;
    bool operator<(const Candidate& other) const {  // a queue's first is its largest
      return order != other.order ? order > other.order : at > other.at;
    }
  };

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }

  static std::string written(std::string_view piece) {
    static const auto characters = characters_of_bytes();
    std::string out;
    for (const char c : piece) out += characters[static_cast<unsigned char>(c)];
    return out;
  }

  void take_merges(const Json& list) {
    merges_.reserve(list.size());
    std::int32_t order = 0;
    for (const auto& each : list) {
      const auto [left, right] = sides_of(each);
      const auto first = vocabulary_.find(left), second = vocabulary_.find(right), both = vocabulary_.find(left + right);
      if (first < 0 || second < 0 || both < 0)
        throw UsageError(fmt::format("its vocabulary lacks a token of the merge '{} {}'", left, right));
      merges_.insert_or_assign(key_of(first, second), Merge{order++, both});
    }
  }

  static std::pair<std::string, std::string> sides_of(const Json& merge) {
    if (merge.is_array()) return {merge.at(0).get<std::string>(), merge.at(1).get<std::string>()};
    const auto text = merge.get<std::string>();
    const auto blank = text.find(' ');
    if (blank == std::string::npos) throw UsageError(fmt::format("its merge '{}' has no blank between two tokens", text));
    return {text.substr(0, blank), text.substr(blank + 1)};
  }

  static void append(std::int32_t token, std::vector<Symbol>& symbols) {
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (at > 0) symbols.back().next = at;
    symbols.push_back({token, at - 1, -1});
  }

  void take_bytes(std::string_view piece, std::vector<Symbol>& symbols) const {
    for (const char c : piece)
      if (const auto token = of_byte_[static_cast<unsigned char>(c)]; token >= 0)
        append(token, symbols);
      else
        append_unknown(symbols);
  }

  void take_characters(std::string_view piece, std::vector<Symbol>& symbols) const {
    while (!piece.empty()) {
      const auto before = piece;
      take_code_point(piece);
      const auto character = before.substr(0, before.size() - piece.size());
      if (const auto token = vocabulary_.find(character); token >= 0)
        append(token, symbols);
      else if (falls_back_ && has_bytes_of(character))
        for (const char c : character) append(fallback_[static_cast<unsigned char>(c)], symbols);
      else
        append_unknown(symbols);
    }
  }

  bool has_bytes_of(std::string_view character) const {
    return std::ranges::all_of(character, [&](char c) { return fallback_[static_cast<unsigned char>(c)] >= 0; });
  }

  void append_unknown(std::vector<Symbol>& symbols) const {
    if (unknown_ < 0 || (fuses_unknown_ && !symbols.empty() && symbols.back().token == unknown_)) return;
    append(unknown_, symbols);
  }

  void merge(std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> candidates;
    const auto consider = [&](std::int32_t at) {
      if (at < 0) return;
      const auto& left = symbols[static_cast<std::size_t>(at)];
      if (left.next < 0) return;
      const auto right = symbols[static_cast<std::size_t>(left.next)].token;
      if (const auto found = merges_.find(key_of(left.token, right)); found != merges_.end())
        candidates.push({found->second.order, at, found->second.becomes, left.token, right});
    };
    for (std::size_t at = 0; at + 1 < symbols.size(); ++at) consider(static_cast<std::int32_t>(at));
    while (!candidates.empty()) {
      const auto best = candidates.top();
      candidates.pop();
      auto& left = symbols[static_cast<std::size_t>(best.at)];
      if (left.token != best.left || left.next < 0) continue;
      auto& right = symbols[static_cast<std::size_t>(left.next)];
      if (right.token != best.right) continue;
      left.token = best.becomes;
      right.token = -1;
      left.next = right.next;
      if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].before = best.at;
      consider(left.before);
      consider(best.at);
    }
  }

  Vocabulary vocabulary_;
  bool is_whole_first_, falls_back_, fuses_unknown_;
  std::int32_t unknown_ = Vocabulary::none;
  std::array<std::int32_t, 256> of_byte_{}, fallback_{};
  std::unordered_map<std::uint64_t, Merge> merges_;
};

std::unique_ptr<const TokenModel> make_bpe(const Json& model) { return std::make_unique<Bpe>(model); }

}  // namespace

namespace plugins {

extern const TokenModelKind bpe{.name = "BPE", .help = "byte-pair encoding, as GPT-2's and Llama's", .make = make_bpe};

}  // namespace plugins

}  // namespace trainrt::data::tokenizer
