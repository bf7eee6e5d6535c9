#include "cli/checkpoints/select_entries.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/load/load.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

SelectedEntries select_entries(const checkpoint::PieceReader& reader, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const auto& tensor : reader.tensors()) names.push_back(tensor.name);
  for (const auto& value : reader.values()) names.push_back(value.name);
  for (const auto& pattern : patterns) {
    const auto matches = [&](const std::string& name) { return checkpoint::selects({{pattern}}, name); };
    if (!pattern.starts_with('!') && std::none_of(names.begin(), names.end(), matches))
      throw UsageError(fmt::format("the checkpoint has no tensor or value '{}'{}; `trainrt inspect` lists all names",
                                   pattern, did_you_mean(pattern, names)));
  }
  SelectedEntries selected;
  for (const auto& tensor : reader.tensors())
    if (checkpoint::selects({patterns}, tensor.name)) selected.tensors.push_back(&tensor);
  for (const auto& value : reader.values())
    if (checkpoint::selects({patterns}, value.name)) selected.values.push_back(&value);
  return selected;
}

}  // namespace trainrt::cli
