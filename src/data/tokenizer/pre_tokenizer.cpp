#include "data/tokenizer/pre_tokenizer.hpp"

#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/pattern.hpp"
#include "data/tokenizer/unicode.hpp"

namespace trainrt::data::tokenizer {

namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::string>;

/// That of GPT-2 (Radford et al., 2019).
constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Whether matches of a pattern stand alone, or go.
enum class Behavior : std::uint8_t { isolated, removed };

class Cut final : public PreTokenizer {
 public:
  Cut(const std::string& expression, Behavior behavior, bool invert)
      : pattern_(expression), behavior_(behavior), invert_(invert) {}
  void split(Pieces& pieces, bool /*is_first*/) const override {
    Pieces cut;
    for (const auto& piece : pieces)
      pattern_.cut(piece, [&](std::string_view part, bool is_match) {
        if (behavior_ == Behavior::isolated || is_match == invert_) cut.emplace_back(part);
      });
    pieces = std::move(cut);
  }

 private:
  Pattern pattern_;
  Behavior behavior_;
  bool invert_;
};

class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool adds_blank, bool cuts) : adds_blank_(adds_blank) {
    if (cuts) cut_ = std::make_unique<Cut>(gpt2_pattern, Behavior::isolated, false);
  }
  void split(Pieces& pieces, bool is_first) const override {
    for (auto& piece : pieces)
      if (adds_blank_ && !piece.starts_with(' ')) piece.insert(0, 1, ' ');
    if (cut_) cut_->split(pieces, is_first);
  }
  bool works_on_bytes() const override { return true; }

 private:
  bool adds_blank_;
  std::unique_ptr<Cut> cut_;
};

/// At code points of some kind, which stand alone each, or go.
class CutAt final : public PreTokenizer {
 public:
  using Kind = bool (*)(char32_t);
  CutAt(Kind kind, Behavior behavior) : kind_(kind), behavior_(behavior) {}
  void split(Pieces& pieces, bool /*is_first*/) const override {
    Pieces cut;
    for (const auto& piece : pieces) {
      std::string run;
      for (std::string_view left = piece; !left.empty();) {
        const auto before = left;
        const bool is_cut = kind_(take_code_point(left));
        const auto bytes = before.substr(0, before.size() - left.size());
        if (!is_cut) {
          run += bytes;
          continue;
        }
        if (!run.empty()) cut.push_back(std::exchange(run, {}));
        if (behavior_ == Behavior::isolated) cut.emplace_back(bytes);
      }
      if (!run.empty()) cut.push_back(std::move(run));
    }
    pieces = std::move(cut);
  }

 private:
  Kind kind_;
  Behavior behavior_;
};

/// SentencePiece's way of writing blanks (Kudo and Richardson, 2018).
class Metaspace final : public PreTokenizer {
 public:
  Metaspace(std::string sign, std::string scheme, bool cuts)
      : sign_(std::move(sign)), scheme_(std::move(scheme)), cuts_(cuts) {}
  void split(Pieces& pieces, bool is_first) const override {
    Pieces cut;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      auto piece = with_signs(pieces[i]);
      const bool prepends = scheme_ == "always" || (scheme_ == "first" && is_first && i == 0);
      if (prepends && !piece.starts_with(sign_)) piece.insert(0, sign_);
      if (cuts_)
        cut_before_signs(piece, cut);
      else
        cut.push_back(std::move(piece));
    }
    pieces = std::move(cut);
  }

 private:
  std::string with_signs(const std::string& piece) const {
    std::string out;
    for (const char c : piece) c == ' ' ? out += sign_ : out += c;
    return out;
  }
  void cut_before_signs(const std::string& piece, Pieces& into) const {
    std::size_t begin = 0;
    for (auto at = piece.find(sign_, 1); at != std::string::npos; at = piece.find(sign_, at + sign_.size())) {
      into.push_back(piece.substr(begin, at - begin));
      begin = at;
    }
    into.push_back(piece.substr(begin));
  }

  std::string sign_, scheme_;
  bool cuts_;
};

class StepByStep final : public PreTokenizer {
 public:
  explicit StepByStep(std::vector<std::unique_ptr<const PreTokenizer>> steps) : steps_(std::move(steps)) {}
  void split(Pieces& pieces, bool is_first) const override {
    for (const auto& step : steps_) step->split(pieces, is_first);
  }
  bool works_on_bytes() const override {
    for (const auto& step : steps_)
      if (step->works_on_bytes()) return true;
    return false;
  }

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
};

Behavior behavior_of(const Json& json) {
  const auto name = json.value("behavior", "Isolated");
  if (name == "Isolated") return Behavior::isolated;
  if (name == "Removed") return Behavior::removed;
  throw UsageError(
      fmt::format("its pre_tokenizer has the behavior '{}', which is not known here; known: Isolated, Removed", name));
}

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c >= 0 && std::isalnum(static_cast<unsigned char>(c)) == 0) out += '\\';
    out += c;
  }
  return out;
}

std::unique_ptr<const PreTokenizer> split_of(const Json& json) {
  const auto& pattern = json.at("pattern");
  const auto expression =
      pattern.contains("Regex") ? pattern.at("Regex").get<std::string>() : quoted(pattern.at("String").get<std::string>());
  const bool invert = json.value("invert", false);
  return std::make_unique<Cut>(expression, behavior_of(json), invert);
}

std::unique_ptr<const PreTokenizer> sequence_of(const Json& json) {
  std::vector<std::unique_ptr<const PreTokenizer>> steps;
  for (const auto& each : json.at("pretokenizers"))
    if (auto step = pre_tokenizer_of(each)) steps.push_back(std::move(step));
  return std::make_unique<StepByStep>(std::move(steps));
}

std::unique_ptr<const PreTokenizer> digits_of(const Json& json) {
  if (json.value("individual_digits", false)) return std::make_unique<CutAt>(is_numeric, Behavior::isolated);
  return std::make_unique<Cut>(R"(\p{N}+)", Behavior::isolated, false);
}

/// By the expression \w+|[^\w\s]+ as Rust's engine has it, which adds joiners to words.
std::unique_ptr<const PreTokenizer> whitespace() {
  const auto members = std::string(of_words) + R"(\x{200C}\x{200D})";
  return std::make_unique<Cut>("[" + members + "]+|[^" + members + R"(\s]+)", Behavior::removed, true);
}

std::unique_ptr<const PreTokenizer> metaspace_of(const Json& json) {
  const auto sign = json.value("replacement", "\xE2\x96\x81");
  if (sign.empty()) throw UsageError("its pre_tokenizer Metaspace has an empty replacement");
  const auto scheme = json.contains("prepend_scheme") ? json.at("prepend_scheme").get<std::string>()
                                                      : (json.value("add_prefix_space", true) ? "always" : "never");
  return std::make_unique<Metaspace>(sign, scheme, json.value("split", true));
}

}  // namespace

std::unique_ptr<const PreTokenizer> bert_pre_tokenizer() {
  std::vector<std::unique_ptr<const PreTokenizer>> steps;
  steps.push_back(std::make_unique<CutAt>(is_white, Behavior::removed));
  steps.push_back(std::make_unique<CutAt>(is_punctuation, Behavior::isolated));
  return std::make_unique<StepByStep>(std::move(steps));
}

std::unique_ptr<const PreTokenizer> pre_tokenizer_of(const Json& json) {
  if (json.is_null()) return nullptr;
  const auto type = json.at("type").get<std::string>();
  if (type == "Sequence") return sequence_of(json);
  if (type == "ByteLevel")
    return std::make_unique<ByteLevel>(json.value("add_prefix_space", true), json.value("use_regex", true));
  if (type == "Split") return split_of(json);
  if (type == "Whitespace") return whitespace();
  if (type == "WhitespaceSplit") return std::make_unique<CutAt>(is_white, Behavior::removed);
  if (type == "Digits") return digits_of(json);
  if (type == "Punctuation") return std::make_unique<CutAt>(is_punctuation, behavior_of(json));
  if (type == "BertPreTokenizer") return bert_pre_tokenizer();
  if (type == "Metaspace") return metaspace_of(json);
  throw UsageError(
      fmt::format("its pre_tokenizer '{}' is not known here; known: Sequence, ByteLevel, Split, Whitespace, "
                  "WhitespaceSplit, Digits, Punctuation, BertPreTokenizer, Metaspace",
                  type));
}

}  // namespace trainrt::data::tokenizer
