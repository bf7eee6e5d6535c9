#include "data/arrays/field_choice.hpp"

#include <algorithm>

#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

std::vector<FieldChoice> field_choices(const std::string& fields) {
  std::vector<FieldChoice> choices;
  for (const auto& word : words_in(fields)) {
    const auto equals = word.find('=');
    choices.push_back({trim(word.substr(0, equals)), equals == std::string::npos ? word : trim(word.substr(equals + 1))});
  }
  return choices;
}

std::string names_in_words(const std::vector<std::string_view>& names) {
  constexpr std::size_t max_listed = 20;
  std::vector<std::string> listed;
  for (const auto name : names)
    if (listed.size() < max_listed) listed.push_back(printable_line(excerpt(name, 40)));
  return join(listed);
}

}  // namespace trainrt::data
