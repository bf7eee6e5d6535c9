#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/tokenizer/tokenizer.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// What stands behind the name of the tokenizer's file.
struct TokenizeWords {
  std::optional<std::int64_t> length;  ///< of every sample; none: as many as the text gives
  std::optional<std::int64_t> pad;
  bool lowercase = false, bare = false;

  explicit TokenizeWords(std::span<const std::string> words) {
    for (const auto& word : words)
      if (word == "lowercase")
        lowercase = true;
      else if (word == "bare")
        bare = true;
      else if (word.starts_with("pad="))
        pad = number(word.substr(4), 0, word);
      else
        length = number(word, 1, word);
  }

 private:
  static std::int64_t number(const std::string& text, std::int64_t least, const std::string& word) {
    constexpr std::int64_t most = 2147483647;
    const auto value = parse_integer(text);
    if (value && *value >= least && *value <= most) return *value;
    throw UsageError(fmt::format("'{}' is none of LENGTH, pad=ID, lowercase, bare", word));
  }
};

/// A text becomes the numbers of its tokens, i32.
class Tokenize final : public VaryingMap {
 public:
  Tokenize(const Dataset::Field& from, const std::string& path, const TokenizeWords& words)
      : field_{from.name, DType::i32, {}, !words.length.has_value()},
        tokenizer_(tokenizer::Tokenizer::load(path, words.lowercase)),
        length_(static_cast<std::size_t>(words.length.value_or(0))),
        with_special_(!words.bare) {
    if (!words.length) return;
    if (with_special_ && length_ < tokenizer_->special_tokens())
      throw UsageError(fmt::format("{} puts {} special tokens around a text, and LENGTH is {}; bare leaves them out", path,
                                   tokenizer_->special_tokens(), length_));
    field_.sample_shape = {*words.length};
    pad_ = words.pad ? static_cast<std::int32_t>(*words.pad) : usual_pad(path);
  }

  const Dataset::Field& field() const override { return field_; }

  void apply(std::span<const std::byte> from, std::vector<std::byte>& to) const override {
    std::vector<std::int32_t> tokens;
    const std::string_view text(reinterpret_cast<const char*>(from.data()), from.size());
    if (length_ > 0) {
      tokenizer_->encode(text, with_special_, tokens, length_);
      tokens.resize(length_, pad_);
    } else {
      tokenizer_->encode(text, with_special_, tokens);
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(tokens.data());
    to.insert(to.end(), bytes, bytes + tokens.size() * sizeof(std::int32_t));
  }

 private:
  std::int32_t usual_pad(const std::string& path) const {
    for (const auto* token : {"[PAD]", "<pad>", "<|padding|>", "<|pad|>"})
      if (const auto number = tokenizer_->find(token); number >= 0) return number;
    throw UsageError(fmt::format("{} has no token for padding ([PAD], <pad>): say which number is one, pad=0", path));
  }

  Dataset::Field field_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::size_t length_;
  bool with_special_;
  std::int32_t pad_ = 0;
};

std::unique_ptr<VaryingMap> make_tokenize(const Dataset::Field& field, std::span<const std::string> arguments) {
  if (!field.varies || field.dtype != DType::u8)
    throw UsageError(fmt::format("{} holds no texts: a field of u8 that varies in length is needed", field.name));
  if (arguments.empty()) throw UsageError(fmt::format("{} needs the file of a tokenizer", field.name));
  return std::make_unique<Tokenize>(field, arguments[0], TokenizeWords(arguments.subspan(1)));
}

}  // namespace

namespace plugins {

extern const Transform tokenize{
    .name = "tokenize",
    .help =
        "makes i32 numbers of tokens of a text, by a tokenizer.json of Hugging Face's form (byte-pair encoding, WordPiece) "
        "or a vocabulary for WordPiece; with LENGTH each sample is cut or padded to so many; bare: without the special "
        "tokens around a text",
    .arguments = "TOKENIZER [LENGTH] [pad=ID] [lowercase] [bare]",
    .make_varying = make_tokenize,
    .reads_file = true};

}  // namespace plugins

}  // namespace trainrt::data
