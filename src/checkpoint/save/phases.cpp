#include "checkpoint/save/phases.hpp"

#include <array>

namespace trainrt::checkpoint {

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, phase_count> names = {
      "prepared",         "staged",  "shard_written", "shard_synced", "gathered", "manifest_written",
      "directory_synced", "renamed", "committed",     "view_written", "retired",  "deleted"};
  return names[static_cast<std::size_t>(phase)];
}

}  // namespace trainrt::checkpoint
