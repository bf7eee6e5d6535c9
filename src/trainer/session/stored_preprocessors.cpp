#include "trainer/session/stored_preprocessors.hpp"

#include <ranges>

#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"

namespace trainrt::trainer {

std::string preprocessors_in(const std::string& checkpoint) {
  const auto metadata = nlohmann::json::parse(checkpoint::read_manifest(checkpoint).meta.metadata, nullptr, false);
  return metadata.is_object() && metadata.contains("preprocessors") ? metadata["preprocessors"].dump() : "";
}

std::string newest_preprocessors(const std::string& run_dir, const std::vector<std::int64_t>& numbers) {
  for (const auto number : std::views::reverse(numbers)) try {
      return preprocessors_in(run_dir + "/" + checkpoint::directory_name(number));
    } catch (const Error&) {
      continue;  // this checkpoint is damaged or deleted; older checkpoints have the same preprocessors
    }
  return "";
}

}  // namespace trainrt::trainer
