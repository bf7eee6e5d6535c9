#include "data/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::data::tokenizer {

namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t most_bytes = 256 << 20;
constexpr std::size_t longest_remembered = 64;    // bytes of a piece
constexpr std::size_t most_remembered = 1 << 14;  // pieces of each memory

Json json_of_vocabulary(const std::string& text, bool lowercase) {
  Json vocabulary = Json::object();
  std::istringstream lines(text);
  std::int32_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    vocabulary[line] = number;
  }
  Json json{{"model", {{"type", "WordPiece"}, {"vocab", std::move(vocabulary)}}}};
  json["normalizer"] = {{"type", "BertNormalizer"}, {"lowercase", lowercase}};
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  const auto& tokens = json["model"]["vocab"];
  if (tokens.contains("[CLS]") && tokens.contains("[SEP]"))
    json["post_processor"] = {
        {"type", "BertProcessing"}, {"cls", {"[CLS]", tokens["[CLS]"]}}, {"sep", {"[SEP]", tokens["[SEP]"]}}};
  json["added_tokens"] = Json::array();
  for (const auto* special : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"})
    if (tokens.contains(special)) json["added_tokens"].push_back({{"content", special}, {"id", tokens[special]}});
  return json;
}

std::unique_ptr<const TokenModel> model_of(const Json& json) {
  const auto type = json.contains("type") ? json.at("type").get<std::string>() : std::string("BPE");
  return find_plugin(token_model_table(), type, "model of a tokenizer").make(json);
}

Json added_tokens_of(const Json& json) { return json.contains("added_tokens") ? json.at("added_tokens") : Json::array(); }

Json part_of(const Json& json, const char* key) { return json.contains(key) ? json.at(key) : Json(); }

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::load(const std::string& path, bool lowercase) try {
  std::error_code none;
  if (std::filesystem::file_size(path, none) > most_bytes && !none)
    throw UsageError(fmt::format("it is larger than {} bytes: no tokenizer", most_bytes));
  const auto text = io::read_file(path);
  if (!path.ends_with(".json")) {
    if (text.find_first_not_of(" \r\n\t") == std::string::npos) throw UsageError("it is empty");
    return std::make_shared<Tokenizer>(json_of_vocabulary(valid_utf8(text), lowercase));
  }
  if (is_nested_deeper(text, max_json_depth)) throw UsageError("it is nested too deeply");
  return std::make_shared<Tokenizer>(Json::parse(text));
} catch (const Json::exception& error) {
  throw UsageError(fmt::format("{} is no tokenizer.json of Hugging Face's form: {}", path, error.what()));
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{}: {}", path, error.what()));
}

Tokenizer::Tokenizer(const Json& json)
    : normalizer_(normalizer_of(part_of(json, "normalizer"))),
      pre_tokenizer_(pre_tokenizer_of(part_of(json, "pre_tokenizer"))),
      model_(model_of(json.at("model"))),
      as_bytes_(pre_tokenizer_ && pre_tokenizer_->works_on_bytes()),
      raw_added_(added_tokens_of(json), AddedTokens::In::raw_text, normalizer_.get()),
      normalized_added_(added_tokens_of(json), AddedTokens::In::normalized_text, normalizer_.get()) {
  take_post_processor(part_of(json, "post_processor"));
}

/// Only what stands around a single text counts.
void Tokenizer::take_post_processor(const Json& json) {
  if (json.is_null()) return;
  const auto type = json.at("type").get<std::string>();
  if (type == "ByteLevel") return;
  if (type == "Sequence") {
    for (const auto& each : json.at("processors")) take_post_processor(each);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    before_ = {token_number(json.at("cls").at(1), "cls")};
    after_ = {token_number(json.at("sep").at(1), "sep")};
  } else if (type == "TemplateProcessing") {
    auto* into = &before_;
    for (const auto& each : json.at("single")) {
      if (each.contains("Sequence")) {
        into = &after_;
        continue;
      }
      const auto& special = json.at("special_tokens").at(each.at("SpecialToken").at("id").get<std::string>());
      for (const auto& number : special.at("ids")) into->push_back(token_number(number, "of special_tokens"));
    }
  } else {
    throw UsageError(
        fmt::format("its post_processor '{}' is not known here; known: TemplateProcessing, BertProcessing, "
                    "RobertaProcessing, ByteLevel, Sequence",
                    type));
  }
}

void Tokenizer::encode(std::string_view text, bool with_special, std::vector<std::int32_t>& into, std::size_t most) const {
  if (with_special) into.insert(into.end(), before_.begin(), before_.end());
  const auto begin = into.size();
  const auto valid = valid_utf8(text);
  raw_added_.cut(
      valid, [&](std::string_view part, bool is_first) { encode_part(part, is_first, into); },
      [&](std::int32_t token) { into.push_back(token); });
  const auto special = with_special ? special_tokens() : 0;
  into.resize(begin + std::min(into.size() - begin, most - std::min(special, most)));
  if (with_special) into.insert(into.end(), after_.begin(), after_.end());
}

/// What lies between tokens of the raw text.
void Tokenizer::encode_part(std::string_view text, bool is_first, std::vector<std::int32_t>& into) const {
  const auto normalized = normalizer_ ? normalizer_->apply(std::string(text)) : std::string(text);
  normalized_added_.cut(
      normalized, [&](std::string_view part, bool is_first_here) { encode_plain(part, is_first && is_first_here, into); },
      [&](std::int32_t token) { into.push_back(token); });
}

void Tokenizer::encode_plain(std::string_view normalized, bool is_first, std::vector<std::int32_t>& into) const {
  std::vector<std::string> pieces{std::string(normalized)};
  if (pre_tokenizer_) pre_tokenizer_->split(pieces, is_first);
  for (const auto& piece : pieces) encode_piece(piece, into);
}

void Tokenizer::encode_piece(const std::string& piece, std::vector<std::int32_t>& into) const {
  if (piece.size() > longest_remembered) return model_->encode(piece, as_bytes_, into);
  auto& memory = memories_[std::hash<std::string>()(piece) % memories_.size()];
  {
    const std::lock_guard lock(memory.mutex);
    if (const auto found = memory.tokens.find(piece); found != memory.tokens.end()) {
      into.insert(into.end(), found->second.begin(), found->second.end());
      return;
    }
  }
  std::vector<std::int32_t> tokens;
  model_->encode(piece, as_bytes_, tokens);
  into.insert(into.end(), tokens.begin(), tokens.end());
  const std::lock_guard lock(memory.mutex);
  if (memory.tokens.size() < most_remembered) memory.tokens.emplace(piece, std::move(tokens));
}

std::int32_t Tokenizer::find(std::string_view token) const {
  for (const auto* added : {&raw_added_, &normalized_added_})
    if (const auto found = added->find(token); found >= 0) return found;
  return model_->find(token);
}

}  // namespace trainrt::data::tokenizer
