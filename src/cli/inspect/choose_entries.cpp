#include "cli/inspect/choose_entries.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/load/load.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

Chosen choose_entries(const checkpoint::PieceReader& reader, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const auto& tensor : reader.tensors()) names.push_back(tensor.name);
  for (const auto& value : reader.values()) names.push_back(value.name);
  for (const auto& pattern : patterns) {
    const auto matches = [&](const std::string& name) { return checkpoint::selects({{pattern}}, name); };
    if (!pattern.starts_with('!') && std::none_of(names.begin(), names.end(), matches))
      throw UsageError(fmt::format("nothing in the checkpoint has the name '{}'{}; `trainrt inspect` lists all names",
                                   pattern, did_you_mean(pattern, names)));
  }
  Chosen chosen;
  for (const auto& tensor : reader.tensors())
    if (checkpoint::selects({patterns}, tensor.name)) chosen.tensors.push_back(&tensor);
  for (const auto& value : reader.values())
    if (checkpoint::selects({patterns}, value.name)) chosen.values.push_back(&value);
  return chosen;
}

std::vector<std::string> split_patterns(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    if (auto part = trim(text.substr(at, end - at)); !part.empty()) parts.push_back(std::move(part));
    at = end + 1;
  }
  return parts;
}

}  // namespace trainrt::cli
