#include "data/tokenizer/added_tokens.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/token_model.hpp"
#include "data/tokenizer/unicode.hpp"

namespace trainrt::data::tokenizer {

namespace {

std::string_view without_white_end(std::string_view text) {
  std::size_t end = 0;
  for (auto left = text; !left.empty();)
    if (!is_white(take_code_point(left))) end = text.size() - left.size();
  return text.substr(0, end);
}

std::string_view without_white_begin(std::string_view text) {
  while (!text.empty()) {
    auto left = text;
    if (!is_white(take_code_point(left))) break;
    text = left;
  }
  return text;
}

}  // namespace

AddedTokens::AddedTokens(const nlohmann::json& list, In in, const Normalizer* normalizer) {
  for (const auto& each : list) {
    if (each.value("normalized", false) != (in == In::normalized_text)) continue;
    const auto name = each.at("content").get<std::string>();
    Token token{.name = name,
                .content = in == In::normalized_text && normalizer != nullptr ? normalizer->apply(name) : name,
                .takes_white_before = each.value("lstrip", false),
                .takes_white_after = each.value("rstrip", false)};
    if (token.content.empty())
      throw UsageError(fmt::format("its added token '{}' is empty{}", name, name.empty() ? "" : " if it is normalized"));
    token.number = token_number(each.at("id"), name);
    if (each.value("single_word", false))
      throw UsageError(fmt::format("its added token '{}' is a single_word, which is not known here", name));
    begins_[static_cast<unsigned char>(token.content.front())] = true;
    tokens_.push_back(std::move(token));
  }
  std::ranges::stable_sort(tokens_, std::greater<>(), [](const Token& token) { return token.content.size(); });
}

const AddedTokens::Token* AddedTokens::at(std::string_view text) const {
  if (!begins_[static_cast<unsigned char>(text.front())]) return nullptr;
  for (const auto& token : tokens_)
    if (text.starts_with(token.content)) return &token;
  return nullptr;
}

void AddedTokens::cut(std::string_view whole, const std::function<void(std::string_view, bool)>& text,
                      const std::function<void(std::int32_t)>& token) const {
  bool is_first = true;
  std::size_t begin = 0;
  const auto hand_over = [&](std::string_view part) {
    if (!part.empty()) text(part, is_first);
    is_first = false;
  };
  for (std::size_t place = 0; place < whole.size();) {
    const auto* const found = at(whole.substr(place));
    if (found == nullptr) {
      ++place;
      continue;
    }
    const auto before = whole.substr(begin, place - begin);
    hand_over(found->takes_white_before ? without_white_end(before) : before);
    token(found->number);
    begin = place + found->content.size();
    if (found->takes_white_after) begin = whole.size() - without_white_begin(whole.substr(begin)).size();
    place = begin;
  }
  hand_over(whole.substr(begin));
}

std::int32_t AddedTokens::find(std::string_view name) const {
  const auto found = std::ranges::find(tokens_, name, &Token::name);
  return found == tokens_.end() ? -1 : found->number;
}

}  // namespace trainrt::data::tokenizer
