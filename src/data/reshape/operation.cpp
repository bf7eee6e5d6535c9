#include "data/reshape/operation.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"

namespace trainrt::data {

std::vector<OptionSpec> operation_options() {
  std::vector<OptionSpec> options;
  for (const auto* kind : by_order(operation_table()))
    options.push_back({.key = std::string(kind->name),
                       .default_value = "",
                       .help = std::string(kind->help),
                       .form = std::string(kind->form)});
  return options;
}

std::vector<RequestedStep> requested_steps(const Options& options) {
  std::vector<RequestedStep> found;
  for (const auto* kind : by_order(operation_table())) {
    const auto* const given = options.find(kind->name);
    if (given == nullptr || given->text.empty()) continue;
    auto& requested = found.emplace_back(RequestedStep{kind, given->origin});
    requested.step = requested.in_key([&] { return kind->make(given->text); });
  }
  return found;
}

KeyWords::KeyWords(std::string_view text, std::string_view form) : form_(form) {
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words_.push_back(word);
}

void KeyWords::refuse(const std::string& why) const {
  throw UsageError(fmt::format("{}; it has the form: {}", why, form_));
}

std::string KeyWords::take() {
  const auto found = std::ranges::find_if(words_, [](const auto& word) { return word.find('=') == std::string::npos; });
  if (found == words_.end()) refuse("a word is missing in the value of the key");
  auto word = std::move(*found);
  words_.erase(found);
  return word;
}

std::uint64_t KeyWords::take_number(std::uint64_t min) {
  const auto word = take();
  const auto number = parse_integer(word);
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) < min)
    refuse(fmt::format("'{}' is not an integer of {} or more", word, min));
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::string> KeyWords::value(std::string_view name) {
  const auto beginning = std::string(name) + "=";
  const auto found = std::ranges::find_if(words_, [&](const auto& word) { return word.starts_with(beginning); });
  if (found == words_.end()) return std::nullopt;
  auto text = found->substr(beginning.size());
  words_.erase(found);
  return text;
}

std::optional<std::int64_t> KeyWords::number(std::string_view name) {
  const auto text = value(name);
  if (!text) return std::nullopt;
  const auto number = parse_integer(*text);
  if (!number) refuse(fmt::format("{}: '{}' is not an integer", name, *text));
  return number;
}

bool KeyWords::has(std::string_view word) {
  const auto found = std::ranges::find(words_, word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

void KeyWords::end() const {
  if (!words_.empty()) refuse(fmt::format("'{}' is unknown", words_.front()));
}

}  // namespace trainrt::data
