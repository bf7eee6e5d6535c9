#include "frameworks/trees/parameters.hpp"

#include <algorithm>

namespace trainrt::frameworks::trees {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

const std::vector<std::string>& declared_keys() {
  static const auto keys = words_of(TRAINRT_TREES_KEYS);
  return keys;
}

Parameters Parameters::of(Context& ctx) {
  const auto& declared = declared_keys();
  Parameters parameters;
  for (const auto& key : ctx.config_keys())
    if (std::ranges::find(declared, key) == declared.end()) parameters.set(key, ctx.config<std::string>(key));
  return parameters;
}

const std::string* Parameters::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, [](const auto& each) -> std::string_view { return each.first; });
  return found == values_.end() ? nullptr : &found->second;
}

const std::string* Parameters::find_any(std::initializer_list<std::string_view> names) const {
  for (const auto name : names)
    if (const auto* value = find(name)) return value;
  return nullptr;
}

void Parameters::set(std::string name, std::string value) {
  remove(name);
  const auto place =
      std::ranges::lower_bound(values_, name, {}, [](const auto& each) -> const std::string& { return each.first; });
  values_.emplace(place, std::move(name), std::move(value));
}

void Parameters::set_default(std::string name, std::string value) {
  if (find(name) == nullptr) set(std::move(name), std::move(value));
}

void Parameters::remove(std::string_view name) {
  std::erase_if(values_, [&](const auto& each) { return each.first == name; });
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (const auto word = trimmed(text.substr(0, comma)); !word.empty()) words.emplace_back(word);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return words;
}

}  // namespace trainrt::frameworks::trees
