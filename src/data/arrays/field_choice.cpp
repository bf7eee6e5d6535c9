#include "data/arrays/field_choice.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

std::string shown(const std::string& name) { return printable_line(excerpt(name, 100)); }

/// Returns the index of the array called `name`.
std::size_t array_named(const std::string& name, const std::vector<std::string>& names, const std::string& what) {
  constexpr std::size_t max_listed = 20;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min(names.size(), max_listed); ++i)
    listed.push_back(printable_line(excerpt(names[i], 40)));
  throw UsageError(
      fmt::format("{} has no array '{}', which the key 'fields' names; it has: {}", what, shown(name), join(listed)));
}

}  // namespace

std::vector<FieldChoice> chosen_fields(const std::string& fields, const std::vector<std::string>& names,
                                       const std::string& what) {
  std::vector<FieldChoice> choices;
  for (const auto& word : words_in(fields)) {
    const auto equals = word.find('=');
    const auto array = equals == std::string::npos ? word : trim(word.substr(equals + 1));
    choices.push_back({trim(word.substr(0, equals)), array_named(array, names, what)});
  }
  if (choices.empty())
    for (std::size_t i = 0; i < names.size(); ++i) choices.push_back({names[i], i});
  if (choices.empty()) throw UsageError(what + ": the file contains no arrays");
  std::set<std::string> made;
  for (const auto& choice : choices) {
    if (choice.field.empty() || !is_utf8(choice.field))
      throw UsageError(
          fmt::format("{}: the field name '{}' is empty or not UTF-8; choose another name with the key 'fields'", what,
                      shown(choice.field)));
    if (!made.insert(choice.field).second)
      throw UsageError(fmt::format("{}: two arrays make the field '{}'; choose other names with the key 'fields'", what,
                                   shown(choice.field)));
  }
  return choices;
}

void require_same_samples(const std::vector<std::pair<std::string, std::uint64_t>>& samples, const std::string& what) {
  const auto& [first, count] = samples.front();
  for (const auto& [name, other] : samples)
    if (other != count)
      throw UsageError(fmt::format(
          "{}: '{}' has {} samples, but '{}' has {}; name arrays with the same number of samples in the key 'fields'", what,
          shown(first), count, shown(name), other));
}

}  // namespace trainrt::data
